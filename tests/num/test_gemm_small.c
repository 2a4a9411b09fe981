#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/gemm.h"
#include "num/gemm_small.h"
#include "num/products.h"
#include "t.h"
#include "util/err.h"
#include "util/mem.h"

/* Partial panels and rows, several of them, sums in several parts. */
static const size_t shapes[][3] = {
    {16, 2, 1},    {17, 5, 3},    {16, 32, 8},   {32, 8, 32},
    {46, 33, 46},  {27, 65, 19},  {100, 31, 5},  {193, 97, 7},
    {16, 16, 384}, {16, 17, 385}, {20, 40, 512}, {16, 24, 1000},
};

/* The layouts of A and B: A B, A B', A' B. */
static const struct way {
    const char *name;
    int a_down, b_down;
} ways[] = {{"A B", 0, 0}, {"A B'", 0, 1}, {"A' B", 1, 0}};

static struct num_gemm
gemm_of(const size_t shape[3], const struct way *way, float alpha, float beta)
{
    const size_t m = shape[0], n = shape[1], k = shape[2];

    return (struct num_gemm){.m = m,
                             .n = n,
                             .k = k,
                             .alpha = alpha,
                             .beta = beta,
                             .a = normal(m * k, 1),
                             .b = normal(k * n, 2),
                             .a_row = way->a_down ? 1 : k,
                             .a_step = way->a_down ? m : 1,
                             .b_row = way->b_down ? 1 : n,
                             .b_step = way->b_down ? k : 1,
                             .c_row = n,
                             .c_step = 1};
}

/* Part of a sum, fused, in order. */
static float
chain(const struct num_gemm *g, size_t i, size_t j, size_t from, size_t to)
{
    float sum = 0;

    for (size_t p = from; p < to; p++)
        sum = fmaf(g->a[i * g->a_row + p * g->a_step],
                   g->b[p * g->b_row + j * g->b_step], sum);
    return sum;
}

/* The element by the header: with alpha 1, beta 0 or 1. */
static float
naive(const struct num_gemm *g, size_t i, size_t j, float old)
{
    float c = old;
    int first = g->beta == 0;

    for (size_t from = 0, to; from < g->k; from = to) {
        const size_t remaining = g->k - from;
        const float sum =
            chain(g, i, j, from,
                  to = from + (remaining >= 768  ? 384
                               : remaining > 384 ? (remaining + 1) / 2
                                                 : remaining));

        c = first ? sum : sum + c;
        first = 0;
    }
    return c;
}

/* Elements that differ from the equation in any bit. */
static size_t
wrong(struct num_gemm *g)
{
    const size_t n = g->m * g->n;
    float *old = normal(n, 3), *c = normal(n + 1, 3);
    const float end = c[n];
    size_t count = 0;

    for (size_t i = 0; i < n && g->beta == 0; i++)
        c[i] = NAN; // is not read
    g->c = c;
    if (!num_gemm_small(g))
        count++;
    for (size_t i = 0; i < n; i++)
        count += c[i] != naive(g, i / g->n, i % g->n, old[i]);
    count += c[n] != end;
    free(old);
    free(c);
    return count;
}

static void
is_a_chain(const size_t shape[3], const struct way *way)
{
    for (int beta = 0; beta <= 1; beta++) {
        struct num_gemm g = gemm_of(shape, way, 1, (float)beta);

        T(wrong(&g) == 0, "%s, %zux%zux%zu, beta %d: fused in order of k",
          way->name, shape[0], shape[1], shape[2], beta);
        free((float *)g.a);
        free((float *)g.b);
    }
}

/* alpha A B + beta C, with neither of them 1. */
static void
is_scaled(const struct way *way)
{
    const size_t shape[3] = {18, 35, 40};
    struct num_gemm g = gemm_of(shape, way, .7f, -.3f);
    float *old = normal(18 * 35, 3), *c = normal(18 * 35, 3);
    double off = 0;

    g.c = c;
    REQUIRE(num_gemm_small(&g));
    for (size_t i = 0; i < 18 * 35; i++) {
        double want = -.3f * (double)old[i];

        for (size_t p = 0; p < 40; p++)
            want += (double).7f * g.a[i / 35 * g.a_row + p * g.a_step] *
                    g.b[p * g.b_row + i % 35 * g.b_step];
        off = fmax(off, fabs(want - c[i]));
    }
    T_NEAR(off, 0, 2e-5, "%s: alpha and beta", way->name);
    free((float *)g.a);
    free((float *)g.b);
    free(old);
    free(c);
}

/* A row of A B' has the same bits whatever the other rows. */
static void
is_independent_of_its_place(size_t n)
{
    enum { ROWS = 37, DEPTH = 12 };
    float *a = normal(ROWS * DEPTH, 1), *b = normal(n * DEPTH, 2);
    float *c = mem_array(ROWS * n, sizeof *c);
    float *part = mem_array(ROWS * n, sizeof *c);
    int same = 1;

    num_gemm_nt(ROWS, n, DEPTH, 1, a, b, 0, c);
    for (size_t from = 0; from < ROWS - 2; from++)
        for (size_t m = 2; from + m < ROWS; m++) {
            num_gemm_nt(m, n, DEPTH, 1, a + from * DEPTH, b, 0, part);
            same &= !memcmp(part, c + from * n, m * n * sizeof *c);
        }
    T(same, "%zu dot products: independent of the row's place", n);
    free(a);
    free(b);
    free(c);
    free(part);
}

static void
refuses(size_t m, size_t n, size_t k, int down, const char *what)
{
    float x = 1;
    const struct num_gemm g = {.m = m,
                               .n = n,
                               .k = k,
                               .a = &x,
                               .b = &x,
                               .a_row = k,
                               .a_step = 1,
                               .b_row = down ? 1 : n,
                               .b_step = down ? k : 1,
                               .c = &x,
                               .c_row = n,
                               .c_step = 1};

    T(!num_gemm_small(&g) && x == 1, "refuses: %s", what);
}

int
main(void)
{
    const struct num_products *loops = num_products();

    for (size_t n = 2; n < 40 && loops->columns < 32; n += 3)
        is_independent_of_its_place(n);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        // where there is no such instruction, nothing is fused
        for (size_t s = 0;
             s < sizeof shapes / sizeof *shapes && loops != &num_products_any;
             s++)
            is_a_chain(shapes[s], &ways[w]);
        is_scaled(&ways[w]);
    }
    refuses(256, 256, 128, 0, "8 million multiplications");
    refuses((size_t)1 << 32, (size_t)1 << 32, 1, 0, "sizes that overflow");
    refuses(1, 16, 16, 0, "a row");
    refuses(16, 1, 16, 0, "a column");
    if (loops->columns == 32)
        refuses(15, 16, 16, 1, "few rows of dot products");
    return t_done();
}
