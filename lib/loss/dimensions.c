#include <math.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "objectives.h"

/* Objectives on the dimensions of z: moments of its columns, [b,d]. */

/* Writes x, z minus the mean of each column; x may be z. */
static void
centre_columns(size_t b, size_t d, const float *z, float *x)
{
    for (size_t k = 0; k < d; k++) {
        double sum = 0;

        for (size_t i = 0; i < b; i++)
            sum += z[i * d + k];
        for (size_t i = 0; i < b; i++)
            x[i * d + k] = (float)(z[i * d + k] - sum / (double)b);
    }
}

/* Sums the squares of each column into sum [d]. */
static void
square_columns(size_t b, size_t d, const float *x, float *sum)
{
    for (size_t k = 0; k < d; k++) {
        double squares = 0;

        for (size_t i = 0; i < b; i++)
            squares += (double)x[i * d + k] * x[i * d + k];
        sum[k] = (float)squares;
    }
}

/*
 * Barlow Twins: each dimension correlates between the two views, and different
 * dimensions do not.
 *
 *     h = ( z - mean ) / sqrt( variance + 1e-5 )    each dimension, each view
 *     C = H1' H2 / b
 *     L = sum_k (C_kk - 1)^2 + lambda sum_k!=l C_kl^2
 *
 * Zbontar et al. 2021, arXiv:2103.03230, eq. 1.  Biased variance.  O(b d^2)
 * time, d^2 scratch.  No state.
 *
 * Reports `diagonal`, the mean of C_kk, and `off_diagonal`, the root of the
 * mean square of the others.
 */

enum { LAMBDA = LOSS_TAU + 1 };

static const struct param barlow_twins_params[] = {
    LOSS_PARAM_TAU(0.5),
    [LAMBDA] = {PARAM_REAL("lambda", 0.0051, 0, 1e6,
                           "weight of correlations between dimensions")},
    {0},
};

/* Computes a view's h, and the deviation that divides it. */
static void
standardise_view(size_t b, size_t d, const float *z, float *h, float *deviation)
{
    centre_columns(b, d, z, h);
    square_columns(b, d, h, deviation);
    for (size_t k = 0; k < d; k++)
        deviation[k] = (float)sqrt(deviation[k] / (double)b + 1e-5);
    for (size_t i = 0; i < b; i++)
        for (size_t k = 0; k < d; k++)
            h[i * d + k] /= deviation[k];
}

/* Replaces dL/dh by dL/dz: (dh - mean dh - h mean(dh h)) / deviation. */
static void
standardise_view_back(size_t b, size_t d, const float *h,
                      const float *deviation, float *dz)
{
    for (size_t k = 0; k < d; k++) {
        double sum = 0, along = 0;

        for (size_t i = 0; i < b; i++) {
            sum += dz[i * d + k];
            along += (double)dz[i * d + k] * h[i * d + k];
        }
        for (size_t i = 0; i < b; i++)
            dz[i * d + k] = (float)((dz[i * d + k] - sum / (double)b -
                                     h[i * d + k] * along / (double)b) /
                                    deviation[k]);
    }
}

static void
barlow_twins_direct(const struct loss_batch *batch,
                    const struct loss_settings *set, const float *z, float *dz,
                    float *work, struct loss_report *report)
{
    const size_t b = batch->b, d = batch->dim;
    const float share = 1 / (float)b;
    float *one = work, *two = one + b * d, *deviation = two + b * d;
    float *c = deviation + 2 * d;
    const double others = d > 1 ? (double)d * (double)(d - 1) : 1;
    double diagonal = 0, on = 0, off = 0;

    standardise_view(b, d, z, one, deviation);
    standardise_view(b, d, z + b * d, two, deviation + d);
    num_gemm_tn(d, d, b, share, one, two, 0, c);
    // replaces C by dL/dC
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            float *x = c + k * d + l;
            const double far = k == l ? *x - 1.0 : *x;

            diagonal += k == l ? *x : 0;
            *(k == l ? &on : &off) += far * far;
            *x = (float)(2 * far * (k == l ? 1 : set->value[LAMBDA]));
        }
    report->value = on + set->value[LAMBDA] * off;
    values_add(&report->more, "diagonal", diagonal / (double)d);
    values_add(&report->more, "off_diagonal", sqrt(off / others));
    num_gemm_nt(b, d, d, share, two, c, 0, dz);
    num_gemm_nn(b, d, d, share, one, c, 0, dz + b * d);
    standardise_view_back(b, d, one, deviation, dz);
    standardise_view_back(b, d, two, deviation + d, dz + b * d);
}

const struct loss_objective loss_barlow_twins = {
    .name = "barlow_twins",
    .summary = "views agree, dimensions do not",
    .params = barlow_twins_params,
    .head = "2048-2048-2048-bn",
    .pairs = "it compares the dimensions of two views",
    .direct = barlow_twins_direct,
};

/*
 * VICReg: variance, invariance, covariance.  With x and y the two views,
 *
 *     L = invariance mean (x - y)^2
 *       + variance/2 ( mean_k max(0, 1 - sd_k(x)) + the same for y )
 *       + covariance/d ( sum_k!=l Cov_kl(x)^2 + the same for y ),
 *
 * sd = sqrt( variance + 1e-4 ), both moments over b - 1.  Bardes, Ponce and
 * LeCun 2022, arXiv:2105.04906, eq. 6.  O(b d^2) time, d^2 scratch.  No state.
 *
 * Reports the three terms with their weights: `invariance`, `variance`,
 * `covariance`.
 */

enum { INVARIANCE = LOSS_TAU + 1, VARIANCE, COVARIANCE };

static const struct param vicreg_params[] = {
    LOSS_PARAM_TAU(0.5),
    [INVARIANCE] = {PARAM_REAL("invariance", 25, 0, 1e6,
                               "weight of the views' distance")},
    [VARIANCE] = {PARAM_REAL("variance", 25, 0, 1e6,
                             "weight of deviations below 1")},
    [COVARIANCE] = {PARAM_REAL("covariance", 1, 0, 1e6,
                               "weight of covariances")},
    {0},
};

/* Adds variance and covariance of a view to their terms and to its gradient. */
static void
spread_view(size_t b, size_t d, const struct loss_settings *set, const float *z,
            float *dz, float *work, double term[2])
{
    const double count = (double)(b - 1), width = (double)d;
    float *x = work, *slope = x + b * d, *c = slope + d;
    double squares = 0; // of covariances off the diagonal

    centre_columns(b, d, z, x);
    square_columns(b, d, x, slope);
    for (size_t k = 0; k < d; k++) {
        const double deviation = sqrt(slope[k] / count + 1e-4);

        term[0] += set->value[VARIANCE] / 2 *
                   (deviation < 1 ? 1 - deviation : 0) / width;
        slope[k] = (float)(deviation < 1 ? -set->value[VARIANCE] /
                                               (2 * width * deviation * count)
                                         : 0);
    }
    num_gemm_tn(d, d, b, (float)(1 / count), x, x, 0, c);
    for (size_t k = 0; k < d; k++) {
        c[k * d + k] = 0;
        squares += num_dot(d, c + k * d, c + k * d);
    }
    term[1] += set->value[COVARIANCE] / width * squares;
    for (size_t i = 0; i < b; i++)
        for (size_t k = 0; k < d; k++)
            dz[i * d + k] += slope[k] * x[i * d + k];
    num_gemm_nn(b, d, d, (float)(4 * set->value[COVARIANCE] / (width * count)),
                x, c, 1, dz);
}

static void
vicreg_direct(const struct loss_batch *batch, const struct loss_settings *set,
              const float *z, float *dz, float *work,
              struct loss_report *report)
{
    const size_t b = batch->b, d = batch->dim, half = b * d;
    const double share = set->value[INVARIANCE] / (double)half;
    double term[2] = {0}, invariance = 0;

    for (size_t i = 0; i < half; i++) {
        const double far = (double)z[i] - z[half + i];

        invariance += share * far * far;
        dz[i] = (float)(2 * share * far);
        dz[half + i] = -dz[i];
    }
    spread_view(b, d, set, z, dz, work, term);
    spread_view(b, d, set, z + half, dz + half, work, term);
    report->value = invariance + term[0] + term[1];
    values_add(&report->more, "invariance", invariance);
    values_add(&report->more, "variance", term[0]);
    values_add(&report->more, "covariance", term[1]);
}

const struct loss_objective loss_vicreg = {
    .name = "vicreg",
    .summary = "variance, invariance, covariance",
    .params = vicreg_params,
    .head = "2048-2048-2048-bn",
    .pairs = "it compares the dimensions of two views",
    .direct = vicreg_direct,
};
