#include <math.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "objectives.h"

/*
 * TaU, temperature as uncertainty: the last column e of z is the certainty of
 * the encoder about the view; the others are the embedding.
 *
 *     t_r = 1 / (1 + exp(-e_r)),   x_rc = s_rc t_r / tau
 *     L   = 1/n sum_r ( log sum_c exp(x_rc) - x_r,partner )
 *
 * over the rows c of other images.  Zhang, Wu, Bayrooti and Goodman 2021,
 * arXiv:2110.04403.  The reference code uses t of the first view for the
 * partner of both views, and adds 1e-6 to the sum.  No state.
 *
 * Reports mean, least and largest t.
 */

/* Added to each sum by the reference code. */
static const double reference_eps = 1e-6;

/* t of row r, from the last column. */
static double
certainty_of(const struct loss_batch *batch, const float *z, size_t r)
{
    return 1 / (1 + exp(-z[(r + 1) * batch->dim - 1]));
}

/*
 * One row: S in, W out.  Returns n times its share of L; adds the gradient of t
 * to the last column of dz.
 */
static double
tau_row(const struct loss_batch *batch, const struct loss_settings *set,
        size_t r, const float *z, float *row, float *dz)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t b = batch->b, n = 2 * b, d = batch->dim;
    const size_t partner = loss_partner(b, r);
    const size_t t_row = set->reference ? r % b : r; // its t scales the partner
    const double t = certainty_of(batch, z, r),
                 t_partner = certainty_of(batch, z, t_row);
    const double score = row[partner],
                 scale = 1 / (set->value[LOSS_TAU] * (double)n);
    const struct loss_row q = loss_row_partition(
        &views, n, r, t / set->value[LOSS_TAU], LOSS_NEGATIVES, row, row);
    const double log_z =
        set->reference ? loss_log_add(q.log_z, log(reference_eps)) : q.log_z;
    const double share = exp(q.log_z - log_z);

    num_scale(n, (float)(scale * share * t), row);
    row[partner] = -(float)(scale * t_partner);
    dz[(r + 1) * d - 1] += (float)(scale * share * q.mean);
    dz[(t_row + 1) * d - 1] -= (float)(scale * score);
    return log_z - score * t_partner / set->value[LOSS_TAU];
}

static void
tau_simclr_direct(const struct loss_batch *batch,
                  const struct loss_settings *set, const float *z, float *dz,
                  float *work, struct loss_report *report)
{
    const size_t n = 2 * batch->b, d = batch->dim, width = d - 1;
    float *v = work, *dv = v + n * width, *length = dv + n * width;
    float *s = length + n;
    double value = 0, sum = 0, least = 1, most = 0;

    for (size_t r = 0; r < n; r++) {
        memcpy(v + r * width, z + r * d, width * sizeof *z);
        dz[(r + 1) * d - 1] = 0;
    }
    num_unit_rows(n, width, v, v, length);
    num_gemm_nt(n, n, width, 1, v, v, 0, s);
    for (size_t r = 0; r < n; r++)
        value += tau_row(batch, set, r, z, s + r * n, dz);
    loss_similarity_backward(n, n, n, width, s, v, dv);
    num_unit_rows_back(n, width, v, length, dv, dv);
    for (size_t r = 0; r < n; r++) {
        const double t = certainty_of(batch, z, r);

        memcpy(dz + r * d, dv + r * width, width * sizeof *dz);
        dz[(r + 1) * d - 1] *= (float)(t * (1 - t));
        sum += t;
        least = fmin(least, t);
        most = fmax(most, t);
    }
    report->value = value / (double)n;
    values_add(&report->more, "certainty_mean", sum / (double)n);
    values_add(&report->more, "certainty_min", least);
    values_add(&report->more, "certainty_max", most);
}

const struct loss_objective loss_tau_simclr = {
    .name = "tau_simclr",
    .summary = "a temperature that the encoder predicts for each view",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.07), {0}},
    .head = "512-129",
    .aux_columns = 1,
    .pairs = "it scales a row's score of one partner",
    .direct = tau_simclr_direct,
};
