/* Products of f32 rows by whole numbers, against sums in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/scaled.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

enum kind { NORMAL, EQUAL, LONE, KINDS };

static const char *const names[] = {"normal", "equal numbers",
                                    "one number 1e6 times as large"};

static const struct shape {
    size_t m, n, d;
    float scale;
} shapes[] = {{1, 1, 1, 1},       {3, 16, 2, 1},      {7, 15, 4, 1},
              {97, 33, 31, 1},    {200, 100, 128, 1}, {17, 65, 1000, 1},
              {40, 66, 7, 1e14F}, {40, 66, 9, 1e-14F}};

/* Rows of a kind, the last of them zero where there are several. */
static float *
make_rows(enum kind kind, size_t n, size_t d, float scale, uint64_t seed)
{
    float *x = normal(n * d, seed);

    for (size_t i = 0; i < n * d; i++) {
        x[i] *= i % 5 ? scale : scale / 1000;
        if (kind == EQUAL)
            x[i] = i / d % 2 ? scale : -scale;
        if (kind == LONE && i % d != i / d % d)
            x[i] /= 1e6F;
    }
    if (n > 1)
        memset(x + (n - 1) * d, 0, d * sizeof *x);
    return x;
}

static void
multiply(const struct shape *s, const float *x, const float *y, float *c)
{
    uint32_t *rows = mem_aligned(num_scaled_words(s->m, s->d), sizeof *rows);
    uint32_t *panels =
        mem_aligned(num_scaled_words(s->n, s->d), sizeof *panels);

    num_scaled_rows(s->m, s->d, x, rows);
    num_scaled_panels(s->n, s->d, y, panels);
    num_scaled_product(s->m, s->n, s->d, rows, panels, c);
    free(panels);
    free(rows);
}

/* The error of the worst product, by what it may be; infinite where one with a
 * row of zeros is not 0. */
static double
worst_error(const struct shape *s, const float *x, const float *y,
            const float *c)
{
    const double part = num_scaled_error(s->d) +
                        num_scaled_rest(s->m, s->d, x) +
                        num_scaled_rest(s->n, s->d, y);
    double worst = 0;

    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const float *a = x + i * s->d, *b = y + j * s->d;
            const double most =
                part * sqrt(num_dot(s->d, a, a)) * sqrt(num_dot(s->d, b, b));
            const double error = fabs(c[i * s->n + j] - num_dot(s->d, a, b));

            worst = fmax(worst, error > 0 ? error / most : 0);
        }
    return worst;
}

static void
products_are_within_their_bound(enum kind kind, const struct shape *s)
{
    float *x = make_rows(kind, s->m, s->d, s->scale, 1);
    float *y = make_rows(kind, s->n, s->d, s->scale, 2);
    float *one = mem_array(s->m * s->n, sizeof *one);
    float *two = mem_array(s->m * s->n, sizeof *two);
    double worst;

    num_threads(1);
    multiply(s, x, y, one);
    num_threads(2);
    multiply(s, x, y, two);
    worst = worst_error(s, x, y, one);
    T(worst < 1, "%s, %zu x %zu of %zu: %.2f of what may be", names[kind], s->m,
      s->n, s->d, worst);
    T(!memcmp(one, two, s->m * s->n * sizeof *one),
      "two threads have the same bits");
    T(num_scaled_rest(s->m, s->d, x) <=
          1.01 * sqrt((double)s->d) / 2 / 32767 * 1.001,
      "and what is left is as small as the header says");
    free(two);
    free(one);
    free(y);
    free(x);
}

int
main(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            products_are_within_their_bound((enum kind)kind, shapes + i);
    return t_done();
}
