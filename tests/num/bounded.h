#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "num/narrow.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

struct shape {
    size_t m, n, d;
    float scale;
};

static inline void
multiply(const struct num_narrow *by, const struct shape *s, const float *x,
         const float *y, float *c)
{
    uint32_t *rows = mem_aligned(by->words(s->m, s->d), sizeof *rows);
    uint32_t *panels = mem_aligned(by->words(s->n, s->d), sizeof *panels);

    by->rows(s->m, s->d, x, rows);
    by->panels(s->n, s->d, y, panels);
    by->product(s->m, s->n, s->d, rows, panels, c);
    free(panels);
    free(rows);
}

/* The largest error of a product relative to its bound; infinite where a
 * product with a row of zeros is not 0, or where one is no number. */
static inline double
worst_error(const struct num_narrow *by, const struct shape *s, const float *x,
            const float *y, const float *c)
{
    const double part = by->error(s->d) + by->residual(s->m, s->d, x) +
                        by->residual(s->n, s->d, y);
    double worst = 0;

    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const float *a = x + i * s->d, *b = y + j * s->d;
            const double most =
                part * sqrt(num_dot(s->d, a, a)) * sqrt(num_dot(s->d, b, b));
            const double error = fabs(c[i * s->n + j] - num_dot(s->d, a, b));

            if (isnan(error))
                return INFINITY;
            worst = fmax(worst, error > 0 ? error / most : 0);
        }
    return worst;
}

/* Products of x and y, of a kind, against sums in double, by one thread and by
 * two. */
static inline void
products_are_within_their_bound(const struct num_narrow *by, const char *kind,
                                const struct shape *s, const float *x,
                                const float *y)
{
    float *one = mem_array(s->m * s->n, sizeof *one);
    float *two = mem_array(s->m * s->n, sizeof *two);
    double worst;

    num_threads(1);
    multiply(by, s, x, y, one);
    num_threads(2);
    multiply(by, s, x, y, two);
    worst = worst_error(by, s, x, y, one);
    T(worst < 1, "%s, %zu x %zu of %zu: %.2f of the bound", kind, s->m, s->n,
      s->d, worst);
    T(!memcmp(one, two, s->m * s->n * sizeof *one),
      "two threads have the same bits");
    free(two);
    free(one);
}
