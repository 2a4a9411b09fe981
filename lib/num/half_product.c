#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "num/dnn.h"
#include "util/clones.h"

#include "half_product.h"
#include "lanes.h"
#include "products.h"

enum { SQUARE = 16 };

size_t
num_half_depth(size_t k)
{
    return (k + 1) / 2;
}

size_t
num_half_panels(size_t columns)
{
    return num_divide_up(columns, HALF_PANEL);
}

/* Element i of an array as bfloat16. */
LANES_INLINE uint32_t
half_at(const void *x, size_t i, int bf16)
{
    return bf16 ? ((const uint16_t *)x)[i] : half_of(((const float *)x)[i]);
}

NUM_CLONES(num_half_pack_down,
           (size_t k, size_t columns, size_t row, const void *x, size_t panel,
            uint32_t *to, int bf16),
           k, columns, row, x, panel, to)
{
    const size_t from = panel * HALF_PANEL;
    const size_t wide = num_least(HALF_PANEL, columns - from);

    for (size_t at = 0; at < k; at += 2, to += HALF_PANEL) {
        const size_t one = at * row + from, two = one + row;

        if (at + 1 < k)
            for (size_t j = 0; j < wide; j++)
                to[j] = half_at(x, one + j, bf16) | half_at(x, two + j, bf16)
                                                        << 16;
        else
            for (size_t j = 0; j < wide; j++)
                to[j] = half_at(x, one + j, bf16);
        for (size_t j = wide; j < HALF_PANEL; j++)
            to[j] = 0;
    }
}

/* Words at .. at + n of a row of k numbers. */
LANES_INLINE void
read_words(size_t k, size_t at, size_t n, const void *x, size_t i,
           uint32_t *word, int bf16)
{
    const size_t whole = 2 * (at + n) <= k ? n : n - 1;

    for (size_t w = 0; w < whole; w++)
        word[w] = half_at(x, i + 2 * w, bf16) | half_at(x, i + 2 * w + 1, bf16)
                                                    << 16;
    if (whole < n)
        word[whole] = half_at(x, i + 2 * whole, bf16);
}

/* Transposes squares of SQUARE columns and words. */
NUM_CLONES(num_half_pack_across,
           (size_t k, size_t columns, size_t row, const void *x, size_t panel,
            uint32_t *to, int bf16),
           k, columns, row, x, panel, to)
{
    const size_t from = panel * HALF_PANEL, depth = num_half_depth(k);
    const size_t wide = num_least(HALF_PANEL, columns - from);

    for (size_t j = 0; j < HALF_PANEL; j += SQUARE)
        for (size_t at = 0; at < depth; at += SQUARE) {
            const size_t n = num_least(SQUARE, depth - at);

            for (size_t c = 0; c < SQUARE; c++) {
                uint32_t word[SQUARE] = {0};

                if (j + c < wide)
                    read_words(k, at, n, x, (from + j + c) * row + 2 * at, word,
                               bf16);
                for (size_t w = 0; w < n; w++)
                    to[(at + w) * HALF_PANEL + j + c] = word[w];
            }
        }
}

UTIL_CLONES(void, num_half_pack_lines,
            (size_t k, size_t columns, const uint16_t *x, size_t from,
             size_t to, uint32_t *lines),
            (k, columns, x, from, to, lines))
{
    const size_t depth = num_half_depth(k);

    for (size_t at = 0; at < depth; at++) {
        const uint16_t *low = x + 2 * at * columns, *high = low + columns;

        for (size_t i = from; i < to; i++)
            lines[i * depth + at] =
                low[i] | (2 * at + 1 < k ? (uint32_t)high[i] << 16 : 0);
    }
}

#ifdef __x86_64__
enum { VECTORS = HALF_PANEL / 16 };

/* Each instruction adds two products to each of 16 sums. */
__attribute__((always_inline, target("avx512f,avx512bf16"))) static inline void
dot_rows(const struct half_product *p, size_t from, size_t rows)
{
    __m512 sum[HALF_ROWS][VECTORS];

    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < VECTORS; v++)
            sum[i][v] = _mm512_setzero_ps();
    for (size_t k = 0; k < p->depth; k++) {
        const uint32_t *a = p->a + from * p->row + k * p->step;
        const uint32_t *b = p->b + k * HALF_PANEL;
        __m512bh column[VECTORS];

        for (int v = 0; v < VECTORS; v++)
            column[v] = (__m512bh)_mm512_loadu_si512(b + 16 * v);
        for (size_t i = 0; i < rows; i++) {
            const __m512bh one =
                (__m512bh)_mm512_set1_epi32((int)a[i * p->row]);

            for (int v = 0; v < VECTORS; v++)
                sum[i][v] = _mm512_dpbf16_ps(sum[i][v], one, column[v]);
        }
    }
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < VECTORS; v++)
            _mm512_storeu_ps(p->c + (from + i) * HALF_PANEL + 16 * v,
                             sum[i][v]);
}

__attribute__((target("avx512f,avx512bf16"))) static void
dot_bf16(const struct half_product *p)
{
    if (p->rows == HALF_ROWS) {
        dot_rows(p, 0, HALF_ROWS);
        return;
    }
    for (size_t i = 0; i < p->rows; i++)
        dot_rows(p, i, 1);
}

#endif

static void
multiply_half(const struct half_product *p)
{
    num_products()->halves(p);
}

const struct half_kernel num_half_vectors = {
    .name = "vectors", .rows = HALF_ROWS, .product = multiply_half};

const struct half_kernel num_half_dot = {.name = "avx512_bf16",
                                         .rows = HALF_ROWS,
#ifdef __x86_64__
                                         .product = dot_bf16
#endif
};

const struct half_kernel *
num_half_kernel(void)
{
    if (num_dnn_tiles() && num_half_has_tiles())
        return &num_half_tiles;
    return num_half_dot.product && num_dnn_bf16_faster() ? &num_half_dot
                                                         : &num_half_vectors;
}
