#include <math.h>
#include <string.h>

#include "num/scaled.h"
#include "num/vec.h"
#include "util/clones.h"

#include "lanes.h"
#include "products.h"

/*
 * A row has words of two numbers each, zeros beyond d, and its scale as the
 * last word.  A panel has SCALED_PANEL rows: word k of all of them, then word
 * k + 1.  STRIP rows stay in the L1 cache during the loop over panels.
 */
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

int
num_scaled_faster(void)
{
    return util_isa() == UTIL_ISA_V3;
}

double
num_scaled_error(size_t d)
{
    (void)d; // sums are exact
    return ldexp(4, -24);
}

size_t
num_scaled_words(size_t n, size_t d)
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

UTIL_CLONES(double, num_scaled_residual, (size_t n, size_t d, const float *x),
            (n, d, x))
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

UTIL_CLONES(void, num_scaled_rows,
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

UTIL_CLONES(void, num_scaled_panels,
            (size_t n, size_t d, const float *x, uint32_t *panels),
            (n, d, x, panels))
{
    const size_t size = num_scaled_words(SCALED_PANEL, d);

    if (n % SCALED_PANEL) // the product reads the whole panel
        memset(panels + n / SCALED_PANEL * size, 0, size * sizeof *panels);
    for (size_t i = 0; i < n; i++)
        scale_column(d, x + i * d,
                     panels + i / SCALED_PANEL * size + i % SCALED_PANEL);
}

/* Computes a strip of rows of c [,n]. */
static void
multiply_strip(size_t rows, size_t n, size_t d, const uint32_t *strip,
               const uint32_t *panels, float *c)
{
    const struct num_products *products = num_products();
    const size_t size = num_scaled_words(SCALED_PANEL, d);
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

void
num_scaled_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                   const uint32_t *panels, float *c)
{
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m; from += STRIP)
        multiply_strip(num_least(STRIP, m - from), n, d,
                       rows + from * (count_words(d) + 1), panels,
                       c + from * n);
}
