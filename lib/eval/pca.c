#include <math.h>
#include <stdlib.h>

#include "eval/pca.h"
#include "num/eigen.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

static void
find_mean(size_t n, size_t d, const float *x, float *mean)
{
    double *sum = mem_array(d, sizeof *sum);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            sum[j] += x[i * d + j];
    for (size_t j = 0; j < d; j++)
        mean[j] = (float)(sum[j] / (double)n);
    free(sum);
}

/*
 * Eigenvectors of C, of any length, from that of X X' / n and X' X / n that is
 * smaller: X' u is an eigenvector of the one where u is of the other.
 */
static void
solve_eigenvectors(size_t n, size_t d, const float *x, size_t k, float *e)
{
    const size_t m = n < d ? n : d;
    float *c = mem_array(m * m, sizeof *c);
    float *u = n < d ? mem_array(k * n, sizeof *u) : NULL;
    float *value = mem_array(k, sizeof *value);
    struct rng rng;

    rng_init(&rng, 0, RNG_EVAL, 0, 0, 0);
    if (n < d)
        num_gemm_nt(n, n, d, 1 / (float)n, x, x, 0, c);
    else
        num_gemm_tn(d, d, n, 1 / (float)n, x, x, 0, c);
    num_eigen(m, k, c, 1e-6, &rng, value, n < d ? u : e);
    if (n < d)
        num_gemm_nn(k, d, n, 1, u, x, 0, e);
    free(value);
    free(u);
    free(c);
}

/* The variances of the rows along directions of unit length; more exact than
 * eigenvalues of a product in single precision. */
static void
measure_variances(size_t n, size_t d, const float *x, size_t k, const float *e,
                  double *variance)
{
    float *y = mem_array(n * k, sizeof *y);

    num_gemm_nt(n, k, d, 1, x, e, 0, y);
    for (size_t i = 0; i < n * k; i++)
        variance[i % k] += (double)y[i] * y[i] / (double)n;
    free(y);
}

/* Makes a direction s long, its largest element positive; 0 stays 0. */
static void
scale_direction(size_t d, double s, float *e)
{
    const double length = sqrt(num_dot(d, e, e));
    float largest = 0;

    for (size_t j = 0; j < d; j++)
        if (fabsf(e[j]) > fabsf(largest))
            largest = e[j];
    if (length > 0)
        num_scale(d, (float)(largest < 0 ? -s / length : s / length), e);
}

struct eval_pca
eval_pca(size_t n, size_t d, const float *x, size_t k, float *basis)
{
    float *centred = mem_array(n * d, sizeof *centred), *mean = basis + k * d;
    double *variance = mem_array(k, sizeof *variance);
    double all, kept = 0, deviations = 0;
    struct eval_pca pca = {0};

    REQUIRE(n >= 2 && k >= 1 && k <= n && k <= d);
    find_mean(n, d, x, mean);
    for (size_t i = 0; i < n * d; i++)
        centred[i] = x[i] - mean[i % d];
    all = num_dot(n * d, centred, centred) / (double)n;
    solve_eigenvectors(n, d, centred, k, basis);
    for (size_t i = 0; i < k; i++)
        scale_direction(d, 1, basis + i * d);
    measure_variances(n, d, centred, k, basis, variance);
    for (size_t i = 0; i < k; i++) {
        kept += variance[i];
        deviations += sqrt(variance[i]);
    }
    if (all > 0 && deviations > 0)
        pca = (struct eval_pca){(double)k / deviations, kept / all,
                                sqrt(variance[0]), sqrt(variance[k - 1])};
    for (size_t i = 0; i < k; i++)
        scale_direction(d, pca.scale, basis + i * d);
    free(variance);
    free(centred);
    return pca;
}
