#include <math.h>
#include <stdlib.h>

#include "eval/geometry.h"
#include "num/eigen.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

enum { BLOCK = 512 }; // rows at a time

static size_t
rows_from(size_t n, size_t first)
{
    return n - first < BLOCK ? n - first : BLOCK;
}

/*
 * Returns the sum over i < j of exp(-2 |v_i - v_j|^2), by |v_i - v_j|^2 =
 * |v_i|^2 + |v_j|^2 - 2 <v_i, v_j>, clamped at 0 against rounding.
 *   square [n]  |v_i|^2: 1, and 0 for a row without length
 */
static double
sum_potential(size_t n, size_t d, const float *v, const double *square)
{
    float *dot = mem_array(BLOCK * BLOCK, sizeof *dot);
    double sum = 0;

    for (size_t i0 = 0; i0 < n; i0 += BLOCK)
        for (size_t j0 = i0; j0 < n; j0 += BLOCK) {
            size_t rows = rows_from(n, i0), columns = rows_from(n, j0);

            num_gemm_nt(rows, columns, d, 1, v + i0 * d, v + j0 * d, 0, dot);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = i0 == j0 ? i + 1 : 0; j < columns; j++) {
                    double apart = square[i0 + i] + square[j0 + j] -
                                   2 * (double)dot[i * columns + j];

                    sum += exp(-2 * fmax(apart, 0));
                }
        }
    free(dot);
    return sum;
}

/* Computes mean [d] and covariance [d,d] of the rows; rows are centred first,
 * for precision. */
static void
compute_moments(size_t n, size_t d, const float *v, double *mean,
                double *covariance)
{
    float *centred = mem_array(BLOCK * d, sizeof *centred);
    float *part = mem_array(d * d, sizeof *part);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            mean[k] += v[i * d + k] / (double)n;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = rows_from(n, first);

        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < d; k++)
                centred[i * d + k] = (float)(v[(first + i) * d + k] - mean[k]);
        num_gemm_tn(d, d, rows, 1, centred, centred, 0, part);
        for (size_t i = 0; i < d * d; i++)
            covariance[i] += part[i] / (double)n;
    }
    mem_free(part, centred);
}

static double
measure_rankme(size_t n, size_t d, const float *x)
{
    const size_t m = n < d ? n : d;
    float *gram = mem_array(m * m, sizeof *gram);
    float *value = mem_array(m, sizeof *value);
    float *vector = mem_array(m * m, sizeof *vector);
    double sum = 0, entropy = 0;
    struct rng rng;

    if (m == n)
        num_gemm_nt(n, n, d, 1, x, x, 0, gram);
    else
        num_gemm_tn(d, d, n, 1, x, x, 0, gram);
    rng_init(&rng, 0, RNG_SPLIT, 0, 0, 0);
    num_eigen(m, m, gram, 1e-6, &rng, value, vector);
    for (size_t k = 0; k < m; k++) {
        const double s = value[k] > 1e-6 * value[0] ? sqrt(value[k]) : 0;

        sum += s;
        entropy -= s > 0 ? s * log(s) : 0;
    }
    mem_free(vector, value, gram);
    return sum > 0 ? exp(entropy / sum + log(sum)) : 0;
}

void
eval_geometry(size_t n, size_t d, const float *x,
              struct eval_geometry *geometry)
{
    float *v = mem_array(n * d, sizeof *v);
    double *mean = mem_array(d, sizeof *mean);
    double *covariance = mem_array(d * d, sizeof *covariance);
    double *square = mem_array(n, sizeof *square);
    double pairs = (double)n * (double)(n - 1) / 2;
    double own = 0, all = 0, trace = 0, frobenius = 0;

    REQUIRE(n >= 2 && d >= 1);
    *geometry = (struct eval_geometry){.deviation_min = INFINITY};
    num_unit_rows(n, d, x, v, NULL);
    compute_moments(n, d, v, mean, covariance);

    // |sum v|^2 = sum |v|^2 + 2 sum over i < j of <v_i, v_j>
    for (size_t i = 0; i < n; i++) {
        square[i] = num_dot(d, v + i * d, v + i * d);
        own += square[i];
        geometry->zero_rows += square[i] == 0;
    }
    for (size_t k = 0; k < d; k++)
        all += mean[k] * mean[k] * (double)n * (double)n;
    geometry->cosine = (all - own) / (2 * pairs);
    geometry->rankme = measure_rankme(n, d, x);
    geometry->uniformity = log(sum_potential(n, d, v, square) / pairs);

    for (size_t k = 0; k < d; k++) {
        double deviation = sqrt(covariance[k * d + k]);

        trace += covariance[k * d + k];
        geometry->deviation += deviation / (double)d;
        geometry->deviation_min = fmin(geometry->deviation_min, deviation);
    }
    for (size_t i = 0; i < d * d; i++)
        frobenius += covariance[i] * covariance[i];
    if (trace >= 1e-10)
        geometry->dimensions = trace * trace / frobenius;
    mem_free(square, covariance, mean, v);
}

double
eval_alignment(size_t n, size_t d, const float *x, const float *y)
{
    float *v = mem_array(2 * d, sizeof *v), *w = v + d;
    double sum = 0;

    REQUIRE(n >= 1);
    for (size_t i = 0; i < n; i++) {
        num_unit_rows(1, d, x + i * d, v, NULL);
        num_unit_rows(1, d, y + i * d, w, NULL);
        for (size_t k = 0; k < d; k++)
            sum += ((double)v[k] - w[k]) * ((double)v[k] - w[k]);
    }
    free(v);
    return sum / (double)n;
}

void
eval_cosines(size_t n, size_t d, const float *x, const float *y, size_t bins,
             size_t *own, size_t *others)
{
    float *v = mem_array(n * d, sizeof *v), *w = v;
    float *dot = mem_array(BLOCK * BLOCK, sizeof *dot);
    const double last = (double)bins - 1;

    num_unit_rows(n, d, x, v, NULL);
    if (y) {
        w = mem_array(n * d, sizeof *w);
        num_unit_rows(n, d, y, w, NULL);
    }
    for (size_t i0 = 0; i0 < n; i0 += BLOCK)
        for (size_t j0 = y ? 0 : i0; j0 < n; j0 += BLOCK) {
            const size_t rows = rows_from(n, i0), columns = rows_from(n, j0);

            num_gemm_nt(rows, columns, d, 1, v + i0 * d, w + j0 * d, 0, dot);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = y || i0 != j0 ? 0 : i + 1; j < columns; j++) {
                    const double cosine =
                        fmin(fmax((double)dot[i * columns + j], -1), 1);
                    const double at = (cosine + 1) / 2 * (double)bins;

                    (i0 + i == j0 + j ? own : others)[(size_t)fmin(at, last)]++;
                }
        }
    if (y)
        free(w);
    mem_free(dot, v);
}
