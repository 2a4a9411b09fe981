/* Sums and the largest of vectors of every length, across lanes and remainder.
 */
#include <math.h>
#include <stdlib.h>

#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { LONGEST = 100 };

static void
sums_are_in_double(void)
{
    float x[LONGEST], y[LONGEST];
    double sum = 0, dot = 0, off = 0;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t n = 0; n < LONGEST; n++) {
        off = fmax(off, fabs(num_sum(n, x) - sum));
        off = fmax(off, fabs(num_dot(n, x, y) - dot));
        x[n] = (float)rng_normal(&rng);
        y[n] = (float)rng_normal(&rng);
        sum += x[n];
        dot += (double)x[n] * y[n];
    }
    T(off < 1e-13, "sums of 0 .. %d, error %.1e", LONGEST - 1, off);
    x[0] = 1e8f;
    x[1] = 1;
    x[2] = -1e8f;
    T(num_sum(3, x) == 1, "small numbers are not lost next to a large one");
    T(num_dot_doubles(3, (double[]){1, 2, 3}, (double[]){4, 5, -6}) == -4 &&
          num_dot_doubles(0, NULL, NULL) == 0,
      "a product of doubles");
}

static void
the_largest(void)
{
    float x[LONGEST];
    size_t wrong = 0;

    for (size_t n = 1; n < LONGEST; n++)
        for (size_t at = 0; at < n; at++) {
            for (size_t i = 0; i < n; i++)
                x[i] = i == at ? -1 : i % 3 ? -2 : NAN;
            wrong += num_max(n, x) != -1;
        }
    T(!wrong, "it is found anywhere, NaN ignored");
    x[0] = NAN;
    T(num_max(0, x) == -INFINITY && num_max(1, x) == -INFINITY,
      "of nothing, and of NaN alone, it is -infinity");
    x[20] = INFINITY;
    T(num_max(LONGEST, x) == INFINITY, "infinity counts");
}

static void
rows_are_scaled(size_t n)
{
    enum { D = 9 };
    float *x = mem_array(n * D, sizeof *x),
          *scale = mem_array(n, sizeof *scale);
    size_t wrong = 0;

    for (size_t i = 0; i < n * D; i++)
        x[i] = (float)i;
    for (size_t r = 0; r < n; r++)
        scale[r] = (float)r + .5f;
    num_scale_rows(n, D, scale, x, x);
    for (size_t i = 0; i < n * D; i++)
        wrong += x[i] != scale[i / D] * (float)i;
    T(!wrong, "%zu rows, each by a different number, in place", n);
    free(x);
    free(scale);
}

int
main(void)
{
    rows_are_scaled(3);
    rows_are_scaled(5000);
    sums_are_in_double();
    the_largest();
    return t_done();
}
