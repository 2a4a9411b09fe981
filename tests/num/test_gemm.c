/* Matrix products of either kind, small and large, against sums in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/gemm.h"
#include "num/threads.h"
#include "t.h"

/* Rows and columns alone, all small ones, and some that are too large. */
static const size_t shapes[][3] = {
    {1, 70, 300},  {300, 1, 70},    {17, 5, 3},
    {64, 64, 128}, {192, 193, 200}, {40, 66, 2048},
};

typedef void product(size_t m, size_t n, size_t k, float alpha, const float *a,
                     const float *b, float beta, float *c);

/* The layouts of A and B: A B, A B', A' B. */
static const struct way {
    const char *name;
    product *multiply;
    int a_down, b_down;
} ways[] = {{"nn", num_gemm_nn, 0, 0},
            {"nt", num_gemm_nt, 0, 1},
            {"tn", num_gemm_tn, 1, 0}};

/* The largest error, in units of the rms of the expected. */
static const double bound = 5e-6;

static double
wanted(const struct way *way, const size_t shape[3], const float *a,
       const float *b, size_t i, size_t j)
{
    const size_t m = shape[0], n = shape[1], k = shape[2];
    double sum = 0;

    for (size_t p = 0; p < k; p++)
        sum += (double)a[way->a_down ? p * m + i : i * k + p] *
               b[way->b_down ? j * k + p : p * n + j];
    return sum;
}

/* alpha A B + beta C; with beta = 0, C is NaN and not read. */
static void
agrees(const struct way *way, const size_t shape[3], float alpha, float beta)
{
    const size_t m = shape[0], n = shape[1], k = shape[2];
    float *a = normal(m * k, 1), *b = normal(k * n, 2);
    float *old = normal(m * n, 3), *c = mem_array(m * n + 1, sizeof *c);
    float *again = mem_array(m * n, sizeof *again);
    double off = 0, square = 0;

    for (size_t i = 0; i < m * n; i++)
        c[i] = again[i] = beta == 0 ? NAN : old[i];
    c[m * n] = 7;
    way->multiply(m, n, k, alpha, a, b, beta, c);
    way->multiply(m, n, k, alpha, a, b, beta, again);
    for (size_t i = 0; i < m * n; i++) {
        const double want =
            (double)alpha * wanted(way, shape, a, b, i / n, i % n) +
            (double)beta * old[i];

        off = fmax(off, fabs(want - c[i]));
        off = isnan(c[i]) ? INFINITY : off;
        square += want * want;
    }
    T_NEAR(off / sqrt(square / (double)(m * n)), 0, bound,
           "%s, %zux%zux%zu, alpha %g, beta %g", way->name, m, n, k,
           (double)alpha, (double)beta);
    T(!memcmp(c, again, m * n * sizeof *c) && c[m * n] == 7,
      "the same bits again, and nothing beyond");
    free(a);
    free(b);
    free(old);
    free(c);
    free(again);
}

int
main(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        num_threads(threads);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                agrees(&ways[w], shapes[s], 1, 0);
                agrees(&ways[w], shapes[s], .7f, -.3f);
            }
    }
    return t_done();
}
