#include <math.h>

#include "num/gemm.h"

#include "barlow_twins.h"
#include "moments.h"

enum { TAU = LOSS_TAU, LAMBDA };

static const struct param params[] = {
    LOSS_PARAM_TAU(0.5),
    [LAMBDA] = {PARAM_REAL("lambda", 0.0051, 0, 1e6,
                           "weight of correlations between dimensions")},
    {0},
};

static const double eps = 1e-5;

/* Scratch: H, deviations of both views, C. */
static size_t
barlow_twins_size(const struct loss_batch *batch)
{
    return 2 * (batch->b + 1) * batch->dim + batch->dim * batch->dim;
}

/* Computes a view's h, and the deviation that divides it. */
static void
standardise_view(size_t b, size_t d, const float *z, float *h, float *deviation)
{
    loss_moments_centre(b, d, z, h);
    loss_moments_squares(b, d, h, deviation);
    for (size_t k = 0; k < d; k++)
        deviation[k] = (float)sqrt(deviation[k] / (double)b + eps);
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

/* Replaces C by dL/dC. */
static void
weigh_correlations(size_t d, double lambda, float *c,
                   struct loss_report *report)
{
    const double others = d > 1 ? (double)d * (double)(d - 1) : 1;
    double diagonal = 0, on = 0, off = 0;

    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            float *x = c + k * d + l;
            const double far = k == l ? *x - 1.0 : *x;

            diagonal += k == l ? *x : 0;
            *(k == l ? &on : &off) += far * far;
            *x = (float)(2 * far * (k == l ? 1 : lambda));
        }
    report->value = on + lambda * off;
    values_add(&report->more, "diagonal", diagonal / (double)d);
    values_add(&report->more, "off_diagonal", sqrt(off / others));
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

    standardise_view(b, d, z, one, deviation);
    standardise_view(b, d, z + b * d, two, deviation + d);
    num_gemm_tn(d, d, b, share, one, two, 0, c);
    weigh_correlations(d, set->value[LAMBDA], c, report);
    num_gemm_nt(b, d, d, share, two, c, 0, dz);
    num_gemm_nn(b, d, d, share, one, c, 0, dz + b * d);
    standardise_view_back(b, d, one, deviation, dz);
    standardise_view_back(b, d, two, deviation + d, dz + b * d);
}

const struct loss_objective loss_barlow_twins = {
    .name = "barlow_twins",
    .summary = "views agree, dimensions do not",
    .params = params,
    .head = "2048-2048-2048-bn",
    .direct = barlow_twins_direct,
    .direct_size = barlow_twins_size,
};
