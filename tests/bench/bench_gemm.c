#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/products.h"
#include "num/threads.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_gemm THREADS TIMES: matrix products as they occur here, by num_gemm (of
 * oneDNN, or of loops of our own) and by OpenBLAS, one after the other, TIMES
 * times.  A line is
 *
 *     similarity nt 512x512x128 212.0 228.1
 *
 * with m, n and k, and the most GFLOP/s of each.  Those named winograd are of
 * one point of 64 images, [tiles,in] by [in,out] for y, and [tiles,in]' by
 * [tiles,out] for dw, of 64@32, 128@16, 256@8 and 512@4, and ours is the loop
 * of lib/num/products.h, which finds its second matrix in panels, as the
 * transforms leave it.  "kernels Haswell" names those
 * that OpenBLAS chose for this processor, or OPENBLAS_CORETYPE for it.
 */
static int threads;

static const struct product {
    const char *name, *how; /* nn, nt, tn, as in num/gemm.h */
    size_t m, n, k;
} products[] = {
    {"head-forward", "nt", 64, 512, 512},
    {"head-dx", "nn", 64, 512, 512},
    {"head-dw", "tn", 512, 512, 64},
    {"similarity", "nt", 64, 64, 128},
    {"similarity", "nt", 512, 512, 128},
    {"similarity", "nt", 1280, 1280, 128},
    {"gradient", "nn", 64, 128, 64},
    {"gradient", "nn", 512, 128, 512},
    {"bank", "nt", 64, 8192, 128},
    {"neighbours", "nt", 256, 8192, 128},
    {"k-means", "nn", 40, 1280, 40},
    {"eigenvectors", "nn", 8, 1280, 1280},
    {"eigenvectors", "tn", 8, 1280, 160},
    {"transformer", "nt", 4096, 512, 128},
    {"transformer", "nn", 4096, 128, 512},
    {"transformer", "tn", 512, 128, 4096},
    {"square", "nn", 1024, 1024, 1024},
    {"winograd", "nn", 4096, 64, 64},
    {"winograd", "nn", 1024, 128, 128},
    {"winograd", "nn", 256, 256, 256},
    {"winograd", "nn", 64, 512, 512},
    {"winograd", "tn", 64, 64, 4096},
    {"winograd", "tn", 128, 128, 1024},
    {"winograd", "tn", 256, 256, 256},
    {"winograd", "tn", 512, 512, 64},
};

/* Panels of B and C in place of rows: as many numbers. */
static void
by_winograd(const struct product *p, const float *a, const float *b, float *c)
{
    const size_t width = num_products()->columns;
    const int turned = p->how[0] == 't';

#pragma omp parallel for num_threads(threads)
    for (size_t j = 0; j < p->n; j += width)
        num_products()->rows(&(struct products_rows){.a = a,
                                                     .row = turned ? 1 : p->k,
                                                     .step = turned ? p->m : 1,
                                                     .b = b + j * p->k,
                                                     .ldb = width,
                                                     .c = c + j * p->m,
                                                     .ldc = width,
                                                     .rows = p->m,
                                                     .depth = p->k,
                                                     .n = width});
}

static void
by_ours(const struct product *p, const float *a, const float *b, float *c)
{
    if (!strcmp(p->name, "winograd"))
        by_winograd(p, a, b, c);
    else if (!strcmp(p->how, "nn"))
        num_gemm_nn(p->m, p->n, p->k, 1, a, b, 0, c);
    else if (!strcmp(p->how, "nt"))
        num_gemm_nt(p->m, p->n, p->k, 1, a, b, 0, c);
    else
        num_gemm_tn(p->m, p->n, p->k, 1, a, b, 0, c);
}

static void
by_openblas(const struct product *p, const float *a, const float *b, float *c)
{
    const int ta = p->how[0] == 't', tb = p->how[1] == 't';
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;

    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a, ta ? m : k, b,
                tb ? k : n, 0, c, n);
}

static float *
normal(size_t n)
{
    float *x = mem_aligned(n, sizeof *x);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
    return x;
}

/* Others that run here disturb the time of a processor less than that of a
 * clock, but it counts all threads. */
static double
now(void)
{
    return threads == 1 ? clock_cpu() : clock_now();
}

static void
compare(const struct product *p, int times)
{
    const double flop = 2. * (double)(p->m * p->n * p->k);
    const int calls = (int)fmax(1, 2e8 / flop); // a time can be told
    float *a = normal(p->m * p->k), *b = normal(p->k * p->n);
    float *c = normal(p->m * p->n);
    double best[2] = {HUGE_VAL, HUGE_VAL};

    for (int i = 0; i < times; i++)
        for (int who = 0; who < 2; who++) {
            double start = now();

            for (int k = 0; k < calls; k++)
                (who ? by_openblas : by_ours)(p, a, b, c);
            best[who] = fmin(best[who], (now() - start) / calls);
        }
    printf("%s %s %zux%zux%zu %.1f %.1f\n", p->name, p->how, p->m, p->n, p->k,
           flop / best[0] * 1e-9, flop / best[1] * 1e-9);
    fflush(stdout);
    free(a);
    free(b);
    free(c);
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    threads = num_threads(atoi(argv[1]));
    printf("kernels %s\n", openblas_get_corename());
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        compare(&products[i], atoi(argv[2]));
    return 0;
}
