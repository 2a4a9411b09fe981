/* Products of f32 rows by three of bfloat16, against sums in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/split.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

static const struct shape {
    size_t m, n, d;
    float scale;
} shapes[] = {{1, 1, 1, 1},       {3, 64, 2, 1},        {33, 70, 31, 1},
              {130, 129, 33, 1},  {200, 512, 128, 1},   {17, 65, 1000, 1},
              {40, 66, 7, 1e15F}, {40, 66, 300, 1e-16F}};

static void
multiply(const struct shape *s, const float *x, const float *y, float *c)
{
    uint32_t *rows = mem_aligned(num_split_words(s->m, s->d), sizeof *rows);
    uint32_t *panels = mem_aligned(num_split_words(s->n, s->d), sizeof *panels);

    num_split_rows(s->m, s->d, x, rows);
    num_split_panels(s->n, s->d, y, panels);
    num_split_product(s->m, s->n, s->d, rows, panels, c);
    free(panels);
    free(rows);
}

/* The error of the worst product, by what it may be. */
static double
worst_error(const struct shape *s, const float *x, const float *y,
            const float *c)
{
    const double rest =
        num_split_rest(s->m, s->d, x) + num_split_rest(s->n, s->d, y);
    double worst = 0;

    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const float *a = x + i * s->d, *b = y + j * s->d;
            const double most = (num_split_error(s->d) + rest) *
                                sqrt(num_dot(s->d, a, a)) *
                                sqrt(num_dot(s->d, b, b));

            worst =
                fmax(worst, fabs(c[i * s->n + j] - num_dot(s->d, a, b)) / most);
        }
    return worst;
}

static void
products_are_within_their_bound(const struct shape *s)
{
    float *x = normal(s->m * s->d, 1), *y = normal(s->n * s->d, 2);
    float *one = mem_array(s->m * s->n, sizeof *one);
    float *two = mem_array(s->m * s->n, sizeof *two);
    double worst;

    for (size_t i = 0; i < s->m * s->d; i++)
        x[i] *= i % 5 ? s->scale : s->scale / 1000;
    for (size_t i = 0; i < s->n * s->d; i++)
        y[i] *= s->scale;
    num_threads(1);
    multiply(s, x, y, one);
    num_threads(2);
    multiply(s, x, y, two);
    worst = worst_error(s, x, y, one);
    T(worst < 1, "%zu x %zu of %zu: %.2f of what may be", s->m, s->n, s->d,
      worst);
    T(!memcmp(one, two, s->m * s->n * sizeof *one),
      "two threads have the same bits");
    free(two);
    free(one);
    free(y);
    free(x);
}

int
main(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        products_are_within_their_bound(shapes + i);
    return t_done();
}
