#include <math.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "moments.h"
#include "vicreg.h"

enum { TAU = LOSS_TAU, INVARIANCE, VARIANCE, COVARIANCE };

static const struct param params[] = {
    LOSS_PARAM_TAU(0.5),
    [INVARIANCE] = {PARAM_REAL("invariance", 25, 0, 1e6,
                               "weight of the views' distance")},
    [VARIANCE] = {PARAM_REAL("variance", 25, 0, 1e6,
                             "weight of deviations below 1")},
    [COVARIANCE] = {PARAM_REAL("covariance", 1, 0, 1e6,
                               "weight of covariances")},
    {0},
};

static const double eps = 1e-4;

/* Scratch: a centred view, its squares, its covariances. */
static size_t
vicreg_size(const struct loss_batch *batch)
{
    return (batch->b + 1 + batch->dim) * batch->dim;
}

/* The sum of squares of covariances [d,d] off the diagonal. */
static double
sum_off_diagonal(size_t d, float *c)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++) {
        c[k * d + k] = 0;
        sum += num_dot(d, c + k * d, c + k * d);
    }
    return sum;
}

/* Adds variance and covariance of a view to their terms and to its gradient. */
static void
spread_view(size_t b, size_t d, const struct loss_settings *set, const float *z,
            float *dz, float *work, double term[2])
{
    const double count = (double)(b - 1), width = (double)d;
    float *x = work, *slope = x + b * d, *c = slope + d;

    loss_moments_centre(b, d, z, x);
    loss_moments_squares(b, d, x, slope);
    for (size_t k = 0; k < d; k++) {
        const double deviation = sqrt(slope[k] / count + eps);

        term[0] += set->value[VARIANCE] / 2 *
                   (deviation < 1 ? 1 - deviation : 0) / width;
        slope[k] = (float)(deviation < 1 ? -set->value[VARIANCE] /
                                               (2 * width * deviation * count)
                                         : 0);
    }
    num_gemm_tn(d, d, b, (float)(1 / count), x, x, 0, c);
    term[1] += set->value[COVARIANCE] / width * sum_off_diagonal(d, c);
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
    .params = params,
    .head = "2048-2048-2048-bn",
    .direct = vicreg_direct,
    .direct_size = vicreg_size,
};
