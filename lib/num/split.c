#include <math.h>
#include <string.h>

#include "num/dnn.h"
#include "num/half.h"
#include "num/split.h"
#include "util/clones.h"

#include "half_product.h"
#include "lanes.h"

enum { STRIP = 4 * HALF_ROWS_MOST, TERMS = 3, AT_A_TIME = 16 };

int
num_split_gains(void)
{
    return num_half_kernel() == &num_half_tiles;
}

double
num_split_error(size_t d)
{
    return ldexp(4, -16) + ldexp(4 * (double)d + 24, -24);
}

size_t
num_split_words(size_t n, size_t d)
{
    return num_half_panels(n) * HALF_PANEL * TERMS * num_half_depth(d);
}

/* The high and the low halves of a row. */
LANES_INLINE void
split_row(size_t n, const float *restrict x, uint16_t *restrict high,
          uint16_t *restrict low)
{
    for (size_t i = 0; i < n; i++)
        high[i] = half_of(x[i]);
    for (size_t i = 0; i < n; i++)
        low[i] = half_of(x[i] - half_value(high[i]));
}

UTIL_CLONES(void, num_split_rows,
            (size_t n, size_t d, const float *x, uint32_t *rows),
            (n, d, x, rows))
{
    const size_t depth = num_half_depth(d), words = TERMS * depth;

    memset(rows, 0, n * words * sizeof *rows);
    for (size_t i = 0; i < n; i++, rows += words) {
        split_row(d, x + i * d, (uint16_t *)rows,
                  (uint16_t *)(rows + 2 * depth));
        memcpy(rows + depth, rows, depth * sizeof *rows);
    }
}

/* AT_A_TIME words of a panel, from word k on, of `wide` rows of d numbers. */
LANES_INLINE void
pack_words(size_t wide, size_t d, const float *x, size_t k, uint32_t *panel)
{
    const size_t depth = num_half_depth(d), left = d - 2 * k;
    const size_t n = left < 2 * AT_A_TIME ? left : 2 * AT_A_TIME;
    uint32_t half[2][HALF_PANEL][AT_A_TIME] = {0};

    for (size_t j = 0; j < wide; j++)
        split_row(n, x + j * d + 2 * k, (uint16_t *)half[0][j],
                  (uint16_t *)half[1][j]);
    for (size_t term = 0; term < TERMS; term++)
        for (size_t i = 0; i < (n + 1) / 2; i++)
            for (size_t j = 0; j < HALF_PANEL; j++)
                panel[(term * depth + k + i) * HALF_PANEL + j] =
                    half[term % 2][j][i];
}

UTIL_CLONES(void, num_split_panels,
            (size_t n, size_t d, const float *x, uint32_t *panels),
            (n, d, x, panels))
{
    const size_t depth = num_half_depth(d);

    for (size_t from = 0; from < n; from += HALF_PANEL) {
        const size_t wide = n - from < HALF_PANEL ? n - from : HALF_PANEL;

        for (size_t k = 0; k < depth; k += AT_A_TIME)
            pack_words(wide, d, x + from * d, k, panels);
        panels += TERMS * depth * HALF_PANEL;
    }
}

/* Rows [from,to) of c. */
static void
multiply_rows(const struct half_kernel *kernel, size_t from, size_t to,
              size_t n, size_t words, const uint32_t *rows,
              const uint32_t *panels, float *c)
{
    float block[HALF_ROWS_MOST * HALF_PANEL];
    size_t count;

    for (size_t i = from; i < to; i += count) {
        count = to - i < kernel->rows ? to - i : kernel->rows;
        for (size_t at = 0; at < n; at += HALF_PANEL) {
            const size_t wide = n - at < HALF_PANEL ? n - at : HALF_PANEL;

            kernel->product(&(struct half_product){.a = rows + i * words,
                                                   .row = words,
                                                   .step = 1,
                                                   .b = panels + at * words,
                                                   .rows = count,
                                                   .depth = words,
                                                   .c = block});
            for (size_t r = 0; r < count; r++)
                memcpy(c + (i + r) * n + at, block + r * HALF_PANEL,
                       wide * sizeof *c);
        }
    }
}

void
num_split_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                  const uint32_t *panels, float *c)
{
    const struct half_kernel *kernel = num_half_kernel();
    const size_t words = TERMS * num_half_depth(d);

#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m; from += STRIP) {
        if (kernel->begin)
            kernel->begin();
        multiply_rows(kernel, from, m - from < STRIP ? m : from + STRIP, n,
                      words, rows, panels, c);
        if (kernel->end)
            kernel->end();
    }
}
