#include <dnnl.h>
#include <string.h>

#include "num/gemm.h"
#include "util/clones.h"

#include "dnn_op.h"
#include "gemm_small.h"
#include "helpers.h"
#include "products.h"

/* Maximum multiplications; depth of a sum, as in oneDNN; rows at a time;
 * columns of a panel; below FEW rows A B' is computed by dot products, in half
 * the time. */
enum { MOST = 5 << 20, DEPTH = 384, ROWS = 96, WIDEST = 32, FEW = 16 };

/* A panel of B: columns from `from` on, at a depth; zeros beyond them. */
struct part {
    size_t from, columns, width, depth, deep;
};

static UTIL_CLONES(void, pack_panel,
                   (const struct num_gemm *g, const struct part *part,
                    float *to),
                   (g, part, to))
{
    const size_t n = part->columns, width = part->width;
    const float *b = g->b + part->from * g->b_step + part->depth * g->b_row;

    if (n < width)
        memset(to, 0, part->deep * width * sizeof *to);
    for (size_t p = 0; p < part->deep && g->b_step == 1; p++)
        memcpy(to + p * width, b + p * g->b_row, n * sizeof *to);
    for (size_t j = 0; j < n && g->b_step != 1; j++)
        for (size_t p = 0; p < part->deep; p++)
            to[p * width + j] = b[p + j * g->b_step];
}

/* c = alpha x + beta c, for a row of n numbers; those of x are `step` apart. */
static inline void
put_row(const struct num_gemm *g, size_t n, float beta, const float *x,
        size_t step, float *c)
{
    if (beta == 0)
        for (size_t j = 0; j < n; j++)
            c[j] = g->alpha * x[j * step];
    else
        for (size_t j = 0; j < n; j++)
            c[j] = g->alpha * x[j * step] + beta * c[j];
}

/* The same for packed rows of x, which may be columns of C. */
static UTIL_CLONES(void, put_rows,
                   (const struct num_gemm *g, size_t rows,
                    const struct part *part, float beta, const float *x,
                    float *c),
                   (g, rows, part, beta, x, c))
{
    if (g->c_step == 1)
        for (size_t i = 0; i < rows; i++)
            put_row(g, part->columns, beta, x + i * part->width, 1,
                    c + i * g->c_row);
    else
        for (size_t j = 0; j < part->columns; j++)
            put_row(g, rows, beta, x + j, part->width, c + j * g->c_step);
}

/* The next part of the remaining depth of a sum. */
static size_t
next_depth(size_t left)
{
    if (left >= 2 * DEPTH)
        return DEPTH;
    return left > DEPTH ? (left + 1) / 2 : left;
}

/* Adds a panel to C. */
static void
multiply_panel(const struct num_gemm *g, const struct part *part)
{
    _Alignas(64) float panel[DEPTH * WIDEST], c[ROWS * WIDEST];

    pack_panel(g, part, panel);
    for (size_t i = 0; i < g->m; i += ROWS) {
        const struct products_rows product = {
            .a = g->a + i * g->a_row + part->depth * g->a_step,
            .row = g->a_row,
            .step = g->a_step,
            .b = panel,
            .ldb = part->width,
            .c = c,
            .ldc = part->width,
            .rows = num_least(ROWS, g->m - i),
            .depth = part->deep,
            .n = part->columns > part->width / 2 ? part->width
                                                 : part->width / 2};

        num_products()->rows(&product);
        put_rows(g, product.rows, part, part->depth ? 1 : g->beta, c,
                 g->c + i * g->c_row + part->from * g->c_step);
    }
}

/* C' = B' A'. */
static struct num_gemm
transposed_gemm(const struct num_gemm *g)
{
    return (struct num_gemm){.m = g->n,
                             .n = g->m,
                             .k = g->k,
                             .alpha = g->alpha,
                             .beta = g->beta,
                             .a = g->b,
                             .b = g->a,
                             .a_row = g->b_step,
                             .a_step = g->b_row,
                             .b_row = g->a_step,
                             .b_step = g->a_row,
                             .c = g->c,
                             .c_row = g->c_step,
                             .c_step = g->c_row};
}

/* For few rows of A B' without AVX-512, oneDNN's bits differ from those of the
 * loops here for the same rows in a larger product. */
static int
is_small(const struct num_gemm *g)
{
    const int few = g->b_step != 1 && g->m < FEW;

    if (g->m < 2 || g->n < 2 || (few && util_isa() == UTIL_ISA_V4))
        return 0;
    return g->m <= MOST && g->n <= MOST / g->m && g->k <= MOST / (g->m * g->n);
}

int
num_gemm_small(const struct num_gemm *gemm)
{
    const size_t width = num_products()->columns;
    struct part part = {.width = width};
    struct num_gemm g = *gemm;

    if (!is_small(&g))
        return 0;
    if (g.b_step != 1 && g.m <= width && g.m < g.n) // less to pack
        g = transposed_gemm(&g);
    for (part.from = 0; part.from < g.n; part.from += part.columns) {
        part.columns = num_least(width, g.n - part.from);
        for (part.depth = 0; part.depth < g.k; part.depth += part.deep) {
            part.deep = next_depth(g.k - part.depth);
            multiply_panel(&g, &part);
        }
    }
    return 1;
}

/* C [m,n] = alpha A B + beta C; a = 1: A is stored as A', b = 1: B as B'. */
static void
multiply_matrices(int a, int b, size_t m, size_t n, size_t k, float alpha,
                  const float *x, const float *y, float beta, float *c)
{
    const size_t lda = a ? m : k, ldb = b ? k : n;
    const struct num_gemm small = {.m = m,
                                   .n = n,
                                   .k = k,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a = x,
                                   .b = y,
                                   .a_row = a ? 1 : lda,
                                   .a_step = a ? lda : 1,
                                   .b_row = b ? 1 : ldb,
                                   .b_step = b ? ldb : 1,
                                   .c = c,
                                   .c_row = n,
                                   .c_step = 1};

    if (!num_gemm_small(&small))
        num_dnn_ok(dnnl_sgemm(a ? 'T' : 'N', b ? 'T' : 'N', (dnnl_dim_t)m,
                              (dnnl_dim_t)n, (dnnl_dim_t)k, alpha, x,
                              (dnnl_dim_t)lda, y, (dnnl_dim_t)ldb, beta, c,
                              (dnnl_dim_t)n));
}

void
num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    multiply_matrices(0, 0, m, n, k, alpha, a, b, beta, c);
}

void
num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    multiply_matrices(0, 1, m, n, k, alpha, a, b, beta, c);
}

void
num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    multiply_matrices(1, 0, m, n, k, alpha, a, b, beta, c);
}
