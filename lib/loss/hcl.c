#include <math.h>

#include "objectives.h"

/*
 * HCL, hard negatives: nearer negatives have larger weights, and the share
 * tau_plus of them that are of the same class is subtracted.
 *
 *     x    = s_r / tau, over the m = 2b - 2 rows c of other images
 *     A    = m sum_c exp((1 + beta) x_c) / sum_c exp(beta x_c)
 *     N    = max( (A - tau_plus m exp(x_partner)) / (1 - tau_plus),
 *                 m exp(-1/tau) )
 *     L    = 1/n sum_r log( 1 + N_r exp(-x_r,partner) )
 *
 * Robinson, Chuang, Sra and Jegelka 2021, arXiv:2010.04592.
 * The gradient is through all of it.  beta = tau_plus = 0 is
 * N = sum_c exp(x_c).  Computed with logarithms, so that no tau overflows.  No
 * state.
 *
 * Reports `floored`, the share of rows with N at its floor, the second term.
 */

enum { TAU = LOSS_TAU, BETA, TAU_PLUS };

static const struct param params[] = {
    LOSS_PARAM_TAU(0.5),
    [BETA] = {PARAM_REAL("beta", 0.5, 0, 100,
                         "how much harder negatives count")},
    [TAU_PLUS] = {PARAM_REAL("tau-plus", 0.1, 0, 0.999,
                             "share of positives among negatives")},
    {0},
};

/* log of N exp(-x_partner) without its floor; log_a is log of A
 * exp(-x_partner). -inf if subtracting the positives leaves nothing. */
static double
debiased_log(double log_a, double m, double tau_plus)
{
    const double off = tau_plus * m * exp(-log_a);

    return off >= 1 ? -INFINITY : log_a + log1p(-off) - log1p(-tau_plus);
}

static double
hcl_beta(const struct loss_settings *set, size_t k)
{
    return ((k ? 0 : 1) + set->value[BETA]) / set->value[TAU];
}

/* Its weight is 1 if N is at its floor. */
static struct loss_term
hcl_row(const struct loss_batch *batch, const struct loss_settings *set,
        double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double beta = set->value[BETA], x = q->score / tau;
    const double m = (double)loss_mask_count(&views, LOSS_NEGATIVES);
    const double log_a = log(m) + q[0].log_z - q[1].log_z - x;
    const double least = log(m) - 1 / tau - x;
    const double free = debiased_log(log_a, m, set->value[TAU_PLUS]);
    const int floored = free < least;
    const double l = loss_log_add(0, floored ? least : free);
    // pull: -dL/dx_partner, the total weight of the negatives
    const double pull =
        exp((floored ? least : log_a - log1p(-set->value[TAU_PLUS])) - l) /
        (tau * (double)(2 * batch->b));

    (void)state;
    return (struct loss_term){.scale = floored ? 0 : pull * (1 + beta),
                              .second = floored ? 0 : -pull * beta,
                              .pull = pull,
                              .value = l / (double)(2 * batch->b),
                              .weight = floored};
}

const struct loss_objective loss_hcl = {
    .name = "hcl",
    .summary = "hard negatives weigh more, likely positives less",
    .params = params,
    .head = "512-128",
    .pairs = "it subtracts the score of one partner from the negatives",
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .softmaxes = 2,
    .beta = hcl_beta,
    .row = hcl_row,
    .weight = "floored",
};
