#include <math.h>
#include <string.h>

#include "num/split.h"
#include "util/clones.h"

#include "lanes.h"
#include "tile_product.h"

/*
 * Rows are stored as tiles (tile_product.h) of 16 rows: first the high halves,
 * then the low halves, `steps` tiles each.
 */
enum { PARTS = 2, SIDE = 2 * TILE_SIDE };

static size_t
count_depth_tiles(size_t d)
{
    return num_divide_up(d, TILE_DEPTH);
}

/* Words of 16 rows. */
static size_t
tile_words(size_t d)
{
    return PARTS * count_depth_tiles(d) * TILE_WORDS;
}

int
num_split_faster(void)
{
    return num_tile_kernel() != NULL;
}

double
num_split_error(size_t d)
{
    return ldexp(1.0625 * (double)d + 24, -24);
}

/* Sums of squares: of x, of x - h, and of x - h - l. */
LANES_INLINE void
sum_rest(size_t d, const float *x, double sum[3])
{
    double lane[3][LANES] = {{0}};

    for (size_t at = 0; at < d; at += LANES) {
        float all[LANES] = {0};

        memcpy(all, x + at, num_least(LANES, d - at) * sizeof *x);
        for (size_t l = 0; l < LANES; l++) {
            const float low = all[l] - half_value(half_of(all[l]));
            const float rest = low - half_value(half_of(low));

            lane[0][l] += (double)all[l] * all[l];
            lane[1][l] += (double)low * low;
            lane[2][l] += (double)rest * rest;
        }
    }
    for (size_t k = 0; k < 3; k++)
        sum[k] = lanes_total(lane[k]);
}

UTIL_CLONES(double, num_split_residual, (size_t n, size_t d, const float *x),
            (n, d, x))
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        double sum[3], rest;

        sum_rest(d, x + i * d, sum);
        rest = sum[0] > 0 ? sqrt(sum[2] / sum[0]) + sum[1] / sum[0] / 2 : 0;
        most = rest > most ? rest : most;
    }
    return 1.01 * most;
}

size_t
num_split_words(size_t n, size_t d)
{
    return num_divide_up(n, SIDE) * 2 * tile_words(d);
}

/* Computes the high and the low halves of n numbers. */
LANES_INLINE void
split_numbers(size_t n, const float *restrict x, uint16_t *restrict high,
              uint16_t *restrict low)
{
    for (size_t i = 0; i < n; i++)
        high[i] = half_of(x[i]);
    for (size_t i = 0; i < n; i++)
        low[i] = half_of(x[i] - half_value(high[i]));
}

/* Writes both tiles of a step, of `rows` rows, with zeros beyond. */
LANES_INLINE void
split_step(size_t rows, size_t d, const float *x, size_t step, uint16_t *high,
           uint16_t *low)
{
    const size_t at = step * TILE_DEPTH, n = num_least(TILE_DEPTH, d - at);

    if (rows < TILE_SIDE || n < TILE_DEPTH) {
        memset(high, 0, TILE_WORDS * sizeof(uint32_t));
        memset(low, 0, TILE_WORDS * sizeof(uint32_t));
    }
    for (size_t i = 0; i < rows; i++, high += TILE_DEPTH, low += TILE_DEPTH)
        if (n == TILE_DEPTH)
            split_numbers(TILE_DEPTH, x + i * d + at, high, low);
        else
            split_numbers(n, x + i * d + at, high, low);
}

/* Converts a left tile to a right one. */
LANES_INLINE void
transpose_tile(const uint16_t *from, uint32_t *to)
{
    for (size_t k = 0; k < TILE_SIDE; k++)
        for (size_t j = 0; j < TILE_SIDE; j++)
            memcpy(to + k * TILE_SIDE + j, from + j * TILE_DEPTH + 2 * k,
                   sizeof *to);
}

/* Splits 16 rows at a time, to left tiles, or with `right` to right ones. */
LANES_INLINE void
split_tiles(size_t n, size_t d, const float *x, int right, uint32_t *to)
{
    const size_t steps = count_depth_tiles(d), part = steps * TILE_WORDS;
    uint16_t high[2 * TILE_WORDS], low[2 * TILE_WORDS];

    for (size_t i = 0; i < num_round_up(n, SIDE);
         i += TILE_SIDE, to += PARTS * part)
        for (size_t s = 0; s < steps; s++) {
            const size_t rows = i < n ? num_least(TILE_SIDE, n - i) : 0;
            uint32_t *h = to + s * TILE_WORDS;

            if (!right) {
                split_step(rows, d, x + i * d, s, (uint16_t *)h,
                           (uint16_t *)(h + part));
                continue;
            }
            split_step(rows, d, x + i * d, s, high, low);
            transpose_tile(high, h);
            transpose_tile(low, h + part);
        }
}

UTIL_CLONES(void, num_split_rows,
            (size_t n, size_t d, const float *x, uint32_t *rows),
            (n, d, x, rows))
{
    split_tiles(n, d, x, 0, rows);
}

UTIL_CLONES(void, num_split_panels,
            (size_t n, size_t d, const float *x, uint32_t *panels),
            (n, d, x, panels))
{
    split_tiles(n, d, x, 1, panels);
}

/* Computes rows [from, from + SIDE) of c [m,n], or up to the last row. */
static void
multiply_rows(const struct tile_kernel *kernel, size_t from, size_t m, size_t n,
              size_t d, const uint32_t *rows, const uint32_t *panels, float *c)
{
    const size_t part = count_depth_tiles(d) * TILE_WORDS;
    const size_t down = num_least(SIDE, m - from);
    // small terms first, to reduce rounding errors
    const struct tile_term terms[] = {{part, 0}, {0, part}, {0, 0}};
    float block[TILE_SUMS];
    struct tile_product p = {.a = rows + from / TILE_SIDE * tile_words(d),
                             .rows = 2,
                             .columns = 2,
                             .a_next = tile_words(d),
                             .b_next = tile_words(d),
                             .terms = terms,
                             .n_terms = sizeof terms / sizeof *terms,
                             .steps = count_depth_tiles(d),
                             .a_step = TILE_WORDS,
                             .b_step = TILE_WORDS};

    for (size_t at = 0; at < n; at += SIDE) {
        const size_t across = num_least(SIDE, n - at);
        const int whole = down == SIDE && across == SIDE;

        p.b = panels + at / TILE_SIDE * tile_words(d);
        p.c = block;
        p.line = SIDE;
        if (whole) {
            p.c = c + from * n + at;
            p.line = n;
        }
        kernel->product(&p);
        for (size_t i = 0; i < down && !whole; i++)
            memcpy(c + (from + i) * n + at, block + i * SIDE,
                   across * sizeof *c);
    }
}

void
num_split_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                  const uint32_t *panels, float *c)
{
    const struct tile_kernel *found = num_tile_kernel();
    const struct tile_kernel *kernel = found ? found : &num_tile_plain;

#pragma omp parallel
    {
        kernel->begin();
#pragma omp for schedule(static)
        for (size_t from = 0; from < m; from += SIDE)
            multiply_rows(kernel, from, m, n, d, rows, panels, c);
        kernel->end();
    }
}
