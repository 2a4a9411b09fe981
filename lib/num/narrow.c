#include <math.h>

#include "num/narrow.h"
#include "num/vec.h"

#include "lanes.h"
#include "products.h"
#include "tile_product.h"

/* Rows are stored as tiles (tile_product.h) of 16 rows: first the high halves,
 * then the low halves, `steps` tiles each. */
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

static double
split_error(size_t d)
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

static UTIL_CLONES(double, split_residual, (size_t n, size_t d, const float *x),
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

static size_t
split_words(size_t n, size_t d)
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

static UTIL_CLONES(void, split_rows,
                   (size_t n, size_t d, const float *x, uint32_t *rows),
                   (n, d, x, rows))
{
    split_tiles(n, d, x, 0, rows);
}

static UTIL_CLONES(void, split_panels,
                   (size_t n, size_t d, const float *x, uint32_t *panels),
                   (n, d, x, panels))
{
    split_tiles(n, d, x, 1, panels);
}

/* Computes rows [from, from + SIDE) of c [m,n], or up to the last row. */
static void
split_block(const struct tile_kernel *kernel, size_t from, size_t m, size_t n,
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

static void
split_product(size_t m, size_t n, size_t d, const uint32_t *rows,
              const uint32_t *panels, float *c)
{
    const struct tile_kernel *found = num_tile_kernel();
    const struct tile_kernel *kernel = found ? found : &num_tile_plain;

#pragma omp parallel
    {
        kernel->begin();
#pragma omp for schedule(static)
        for (size_t from = 0; from < m; from += SIDE)
            split_block(kernel, from, m, n, d, rows, panels, c);
        kernel->end();
    }
}

const struct num_narrow num_split = {split_error,  split_residual,
                                     split_words,  split_rows,
                                     split_panels, split_product};

/* A row has words of two numbers each, zeros beyond d, and its scale as the
 * last word.  A panel has SCALED_PANEL rows: word k of all of them, then word
 * k + 1.  STRIP rows stay in the L1 cache during the loop over panels. */
enum { STRIP = 16 * SCALED_ROWS };

/* x + shift rounds x to an integer. */
static const float shift = 0x1.8p23F;

/* |<a, b>| <= longest^2 < 2^31 */
static const double longest = 46340, largest = 32767;

static size_t
count_words(size_t d)
{
    return (d + 1) / 2;
}

static double
scaled_error(size_t d)
{
    (void)d; // sums are exact
    return ldexp(4, -24);
}

static size_t
scaled_words(size_t n, size_t d)
{
    return num_round_up(n, SCALED_PANEL) * (count_words(d) + 1);
}

/* The largest magnitude of a row; without signs, the bits of floats have the
 * same order. */
LANES_INLINE float
find_largest(size_t d, const float *x)
{
    uint32_t most = 0;
    float found;

    for (size_t k = 0; k < d; k++) {
        uint32_t bits;

        memcpy(&bits, x + k, sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    memcpy(&found, &most, sizeof found);
    return found;
}

/* The scale of a row; 0 if the row is zero. */
LANES_INLINE float
find_scale(size_t d, const float *x)
{
    return (float)fmax(sqrt(num_dot(d, x, x)) / (longest - sqrt((double)d) / 2),
                       find_largest(d, x) / largest);
}

LANES_INLINE float
invert_scale(float scale)
{
    return scale > 0 ? 1 / scale : 0;
}

LANES_INLINE float
round_to_whole(float x)
{
    return x + shift - shift;
}

/* Converts n numbers, times `by`, to words.  A sum with `shift` has the integer
 * in its lower bits. */
LANES_INLINE void
scale_numbers(size_t n, const float *restrict x, float by,
              uint32_t *restrict to)
{
    uint32_t bits[2 * LANES] = {0};

    for (size_t k = 0; k < n; k++) {
        const float sum = x[k] * by + shift;

        memcpy(&bits[k], &sum, sizeof sum);
    }
    for (size_t k = 0; k < (n + 1) / 2; k++)
        to[k] = (bits[2 * k] & 0xffff) | bits[2 * k + 1] << 16;
}

/* Converts the numbers from `at` on, at most 2 LANES. */
LANES_INLINE void
scale_part(size_t d, const float *x, size_t at, float by, uint32_t *to)
{
    if (at + 2 * LANES <= d)
        scale_numbers(2 * LANES, x + at, by, to);
    else
        scale_numbers(d - at, x + at, by, to);
}

/* |e|^2 of a row. */
LANES_INLINE double
square_of_rest(size_t d, const float *x)
{
    const double scale = find_scale(d, x);
    const float by = invert_scale((float)scale);
    double lane[LANES] = {0}, sum = 0;
    size_t at = 0;

    for (; at + LANES <= d; at += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double rest =
                x[at + l] - scale * (double)round_to_whole(x[at + l] * by);

            lane[l] += rest * rest;
        }
    for (; at < d; at++)
        sum += pow(x[at] - scale * (double)round_to_whole(x[at] * by), 2);
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static UTIL_CLONES(double, scaled_residual,
                   (size_t n, size_t d, const float *x), (n, d, x))
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        const double square = num_dot(d, x + i * d, x + i * d);
        const double rest = square_of_rest(d, x + i * d);

        if (square > 0 && rest / square > most)
            most = rest / square;
    }
    return 1.01 * (sqrt(most) + most / 2);
}

static UTIL_CLONES(void, scaled_rows,
                   (size_t n, size_t d, const float *x, uint32_t *rows),
                   (n, d, x, rows))
{
    const size_t words = count_words(d);

    for (size_t i = 0; i < n; i++, x += d, rows += words + 1) {
        const float scale = find_scale(d, x);

        for (size_t at = 0; at < d; at += 2 * LANES)
            scale_part(d, x, at, invert_scale(scale), rows + at / 2);
        memcpy(rows + words, &scale, sizeof scale);
    }
}

/* Converts a row to a column of a panel. */
LANES_INLINE void
scale_column(size_t d, const float *x, uint32_t *to)
{
    const size_t words = count_words(d);
    const float scale = find_scale(d, x), by = invert_scale(scale);
    uint32_t line[LANES];

    for (size_t at = 0; at < words; at += LANES) {
        scale_part(d, x, 2 * at, by, line);
        for (size_t k = 0; k < num_least(LANES, words - at); k++)
            to[(at + k) * SCALED_PANEL] = line[k];
    }
    memcpy(to + words * SCALED_PANEL, &scale, sizeof scale);
}

static UTIL_CLONES(void, scaled_panels,
                   (size_t n, size_t d, const float *x, uint32_t *panels),
                   (n, d, x, panels))
{
    const size_t size = scaled_words(SCALED_PANEL, d);

    if (n % SCALED_PANEL) // the product reads the whole panel
        memset(panels + n / SCALED_PANEL * size, 0, size * sizeof *panels);
    for (size_t i = 0; i < n; i++)
        scale_column(d, x + i * d,
                     panels + i / SCALED_PANEL * size + i % SCALED_PANEL);
}

/* Computes a strip of rows of c [,n]. */
static void
scaled_strip(size_t rows, size_t n, size_t d, const uint32_t *strip,
             const uint32_t *panels, float *c)
{
    const struct num_products *products = num_products();
    const size_t size = scaled_words(SCALED_PANEL, d);
    float block[STRIP * SCALED_PANEL];
    struct scaled_product p = {
        .rows = rows, .depth = count_words(d), .a = strip};

    for (size_t at = 0; at < n; at += SCALED_PANEL) {
        const size_t across = num_least(SCALED_PANEL, n - at);
        const int whole = across == SCALED_PANEL;

        p.b = panels + at / SCALED_PANEL * size;
        p.c = block;
        p.line = SCALED_PANEL;
        if (whole) {
            p.c = c + at;
            p.line = n;
        }
        products->scaled(&p);
        for (size_t i = 0; i < rows && !whole; i++)
            memcpy(c + i * n + at, block + i * SCALED_PANEL,
                   across * sizeof *c);
    }
}

static void
scaled_product(size_t m, size_t n, size_t d, const uint32_t *rows,
               const uint32_t *panels, float *c)
{
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m; from += STRIP)
        scaled_strip(num_least(STRIP, m - from), n, d,
                     rows + from * (count_words(d) + 1), panels, c + from * n);
}

const struct num_narrow num_scaled = {scaled_error,  scaled_residual,
                                      scaled_words,  scaled_rows,
                                      scaled_panels, scaled_product};

const struct num_narrow *
num_narrow(void)
{
    if (num_tile_kernel())
        return &num_split;
    return util_isa() == UTIL_ISA_V3 ? &num_scaled : NULL;
}
