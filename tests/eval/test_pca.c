#include <stdlib.h>

#include "eval/pca.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Rows about 5, with deviation 4, 3, 2, 1 along four random directions that
 * are nearly at right angles, and a little along all. */
static float *
rows(size_t n, size_t d)
{
    float *x = mem_array(n * d, sizeof *x), *axis = mem_array(4 * d, 4);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, n, d, 0);
    for (size_t i = 0; i < 4 * d; i++)
        axis[i] = (float)(rng_normal(&rng) / sqrt((double)d));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = (float)(5 + .01 * rng_normal(&rng));
        for (size_t a = 0; a < 4; a++)
            num_axpy(d, (float)((double)(4 - a) * rng_normal(&rng)),
                     axis + a * d, x + i * d);
    }
    free(axis);
    return x;
}

/* The coordinates of the rows are uncorrelated, in falling order, and their
 * deviations have mean 1. */
static void
coordinates_are_uncorrelated(size_t n, size_t d, size_t k)
{
    float *x = rows(n, d), *basis = mem_array((k + 1) * d, sizeof *basis);
    double *y = mem_array(n * k, sizeof *y), deviations = 0, off = 0;
    double last = INFINITY, sum = 0;
    struct eval_pca pca = eval_pca(n, d, x, k, basis);
    int falls = 1;

    for (size_t i = 0; i < n; i++) {
        num_axpy(d, -1, basis + k * d, x + i * d);
        for (size_t a = 0; a < k; a++)
            y[i * k + a] = num_dot(d, basis + a * d, x + i * d);
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = a; b < k; b++) {
            double c = 0;

            for (size_t i = 0; i < n; i++)
                c += y[i * k + a] * y[i * k + b] / (double)n;
            if (a != b) {
                off = fmax(off, fabs(c));
                continue;
            }
            falls &= c <= last;
            last = c;
            deviations += sqrt(c) / (double)k;
            sum += c / (pca.scale * pca.scale);
        }
    T_NEAR(deviations, 1, 1e-5, "%zu rows of %zu: mean deviation 1", n, d);
    // 1.1e-4 with OpenBLAS 0.3.29 for Haswell: LAPACK in single precision
    T(off < 5e-4, "no correlation: %.1e at most", off);
    T(falls, "the first is the largest");
    T_NEAR(sum / (num_dot(n * d, x, x) / (double)n), pca.share, 1e-5,
           "their share of the variance");
    free(x);
    free(y);
    free(basis);
}

static void
four_directions_are_all(void)
{
    float *x = rows(400, 30), basis[5 * 30];
    struct eval_pca pca = eval_pca(400, 30, x, 4, basis);
    double angle = num_dot(30, basis, basis + 30);

    T(pca.share > .999, "four of four directions: %.5f of the variance",
      pca.share);
    T(pca.first / pca.last > 2, "of different lengths");
    T_NEAR(angle, 0, 1e-4, "at right angles");
    T_NEAR(num_dot(30, basis, basis), pca.scale * pca.scale, 1e-5,
           "each as long as the scale");
    T_NEAR(basis[4 * 30] / 5, 1, .2, "about the mean");
    free(x);
}

/* By hand: (0,0), (2,0), (0,1), (2,1) have deviations 1 and 1/2. */
static void
a_rectangle_has_its_sides(void)
{
    static const float x[] = {0, 0, 2, 0, 0, 1, 2, 1};
    float basis[6];
    struct eval_pca pca = eval_pca(4, 2, x, 2, basis);

    T_NEAR(pca.scale, 2 / 1.5, 1e-6, "scale 2 / (1 + 1/2)");
    T_NEAR(basis[0], 2 / 1.5, 1e-6, "the first along x, positive");
    T_NEAR(basis[1], 0, 1e-6, "the first axis has nothing of y");
    T_NEAR(basis[3], 2 / 1.5, 1e-6, "the second axis is along y");
    T(basis[4] == 1 && basis[5] == .5f, "about the centre");
    T_NEAR(pca.share, 1, 1e-6, "both have all variance");
}

static void
equal_rows_have_no_direction(void)
{
    float x[12], basis[6];
    struct eval_pca pca;

    for (size_t i = 0; i < 12; i++)
        x[i] = 7;
    pca = eval_pca(4, 3, x, 1, basis);
    T(pca.scale == 0 && basis[0] == 0 && basis[1] == 0 && basis[2] == 0 &&
          basis[3] == 7,
      "equal rows: scale 0");
}

int
main(void)
{
    coordinates_are_uncorrelated(500, 40, 6);
    coordinates_are_uncorrelated(60, 300, 10);
    coordinates_are_uncorrelated(25, 25, 6);
    four_directions_are_all();
    a_rectangle_has_its_sides();
    equal_rows_have_no_direction();
    return t_done();
}
