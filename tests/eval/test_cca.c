/* Canonical correlations that are known. */
#include <stdlib.h>
#include <string.h>

#include "eval/pca.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 8 };

/* Column j of a Hadamard matrix: mean 0, variance 1, and no correlation with
 * the others, j = 1 .. 7. */
static float
column(size_t i, size_t j)
{
    size_t bits = i & j;

    return (bits ^ bits >> 1 ^ bits >> 2) & 1 ? -1 : 1;
}

/* Rows with the correlation cos(angle[j]) between columns j of x and y. */
static void
correlated(size_t d, const double *angle, float *x, float *y)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < d; j++) {
            x[i * d + j] = column(i, 1 + j);
            y[i * d + j] = (float)(cos(angle[j]) * column(i, 1 + j) +
                                   sin(angle[j]) * column(i, 1 + d + j));
        }
}

static void
angles_are_found(void)
{
    enum { D = 3 };
    const double angle[D] = {.3, 1.2, .7};
    const double want[D] = {0.955336489, 0.764842187, 0.362357754};
    float x[N * D], y[N * D], s[D], c[N * D], e[N * D];
    struct eval_map a, b;
    double off = 0;

    correlated(D, angle, x, y);
    eval_cca(N, D, x, D, y, &(struct eval_cca_settings){D, D, D, 0}, &a, &b, s);
    for (size_t j = 0; j < D; j++)
        T_NEAR(s[j], want[j], 1e-5, "correlation %zu is the cosine", j);
    eval_map_apply(&a, N, x, c);
    eval_map_apply(&b, N, y, e);
    // coordinate j has the deviation s_j, and covariance s_j^3 with its like
    for (size_t j = 0; j < D; j++)
        for (size_t k = 0; k < D; k++) {
            double cc = 0, ce = 0;

            for (size_t i = 0; i < N; i++) {
                cc += (double)c[i * D + j] * c[i * D + k] / N;
                ce += (double)c[i * D + j] * e[i * D + k] / N;
            }
            off = fmax(off, fabs(cc - (j == k ? want[j] * want[j] : 0)));
            off = fmax(off, fabs(ce - (j == k ? pow(want[j], 3) : 0)));
        }
    T(off < 1e-5, "other coordinates are not correlated: %.1e", off);
    free(a.basis);
    free(b.basis);
}

/* x = z A + shift: the correlations do not change. */
static void
mix(size_t n, size_t d, float shift, float *x)
{
    float *was = mem_array(n * d, sizeof *was);

    memcpy(was, x, n * d * sizeof *was);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            x[i * d + j] = shift;
            for (size_t k = 0; k < d; k++)
                x[i * d + j] += was[i * d + k] *
                                (j == k ? 2 : .3f * (float)(j + 2 * k) - .5f);
        }
    free(was);
}

static void
scales_and_rotations_do_not_matter(void)
{
    enum { D = 3 };
    const double angle[D] = {.3, 1.2, .7};
    float x[N * D], y[N * D], s[D], again[D];
    struct eval_cca_settings settings = {D, D, D, 0};
    struct eval_map map[4];

    correlated(D, angle, x, y);
    eval_cca(N, D, x, D, y, &settings, map, map + 1, s);
    mix(N, D, 7, x);
    mix(N, D, -3, y);
    eval_cca(N, D, x, D, y, &settings, map + 2, map + 3, again);
    for (size_t j = 0; j < D; j++)
        T_NEAR(again[j], s[j], 1e-4, "mixed columns: correlation %zu stays", j);
    for (size_t i = 0; i < 4; i++)
        free(map[i].basis);
}

static void
ridge_divides(void)
{
    const double angle[] = {.6};
    float x[N], y[N], s[1];
    struct eval_map a, b;

    correlated(1, angle, x, y);
    eval_cca(N, 1, x, 1, y, &(struct eval_cca_settings){1, 1, 1, .25}, &a, &b,
             s);
    T_NEAR(s[0], cos(.6) / 1.25, 1e-6, "a ridge of .25 divides by 1.25");
    free(a.basis);
    free(b.basis);
}

/* New rows, with twice as many columns as rows in training: each row is mapped
 * to its partner. */
static void
new_rows_are_mapped_alike(void)
{
    enum { ROWS = 60, D = 5, WIDE = 120 };
    float *x = mem_array(ROWS * D, sizeof *x);
    float *y = mem_array(ROWS * WIDE, sizeof *y), s[D], c[D], e[D];
    struct eval_map a, b;
    double off = 0;
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < ROWS * D; i++)
        x[i] = (float)rng_normal(&rng);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < WIDE; j++)
            y[i * WIDE + j] = x[i * D + j % D] * (float)(1 + j % 7) + 3;
    eval_cca(ROWS - 10, D, x, WIDE, y, &(struct eval_cca_settings){D, D, D, 0},
             &a, &b, s);
    T_NEAR(s[D - 1], 1, 1e-4, "equal directions have correlation 1");
    for (size_t i = ROWS - 10; i < ROWS; i++) {
        eval_map_apply(&a, 1, x + i * D, c);
        eval_map_apply(&b, 1, y + i * WIDE, e);
        for (size_t j = 0; j < D; j++)
            off = fmax(off, fabs(c[j] - e[j]));
    }
    T(off < 2e-3, "new rows and their partners are mapped alike: %.1e", off);
    free(a.basis);
    free(b.basis);
    free(x);
    free(y);
}

/* Columns without variance, and more directions than rank. */
static void
no_variance_is_left_out(void)
{
    float x[N * 3], y[N * 3], s[3], out[3 * N];
    struct eval_map a, b;
    int finite = 1;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 3; j++) {
            x[i * 3 + j] = j ? 5 : column(i, 1);
            y[i * 3 + j] = j ? column(i, 1) : 2;
        }
    eval_cca(N, 3, x, 3, y, &(struct eval_cca_settings){3, 3, 3, 0}, &a, &b, s);
    eval_map_apply(&a, N, x, out);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        finite &= isfinite(out[i]);
    T_NEAR(s[0], 1, 1e-5, "one common direction");
    T(s[1] < 1e-5 && s[2] < 1e-5 && finite, "no other");
    free(a.basis);
    free(b.basis);
}

int
main(void)
{
    angles_are_found();
    scales_and_rotations_do_not_matter();
    ridge_divides();
    new_rows_are_mapped_alike();
    no_variance_is_left_out();
    return t_done();
}
