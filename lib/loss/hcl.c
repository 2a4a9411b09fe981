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

/*
 * One row: S in, W out; `low` [rows] is scratch.  Returns n times its share of
 * L; *at_floor is 1 if N is at its floor.
 */
static double
hcl_row(const struct loss_batch *batch, const struct loss_settings *set,
        size_t r, float *row, float *low, int *at_floor)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const size_t partner = loss_partner(b, r);
    const double tau = set->value[TAU], beta = set->value[BETA];
    const double m = (double)loss_mask_count(&views, LOSS_NEGATIVES);
    const double scale = 1 / (tau * (double)(2 * b)), x = row[partner] / tau;
    const double z0 = loss_row_partition(&views, rows, r, beta / tau,
                                         LOSS_NEGATIVES, row, low)
                          .log_z;
    const double z1 = loss_row_partition(&views, rows, r, (1 + beta) / tau,
                                         LOSS_NEGATIVES, row, row)
                          .log_z;
    const double log_a = log(m) + z1 - z0 - x, least = log(m) - 1 / tau - x;
    const double free = debiased_log(log_a, m, set->value[TAU_PLUS]);
    double l, pull; // pull: -dL/dx_partner, the total weight of the negatives

    *at_floor = free < least;
    l = loss_log_add(0, *at_floor ? least : free);
    pull = *at_floor ? exp(least - l)
                     : exp(log_a - log1p(-set->value[TAU_PLUS]) - l);
    for (size_t c = 0; c < rows; c++)
        row[c] =
            *at_floor
                ? 0
                : (float)(scale * pull * ((1 + beta) * row[c] - beta * low[c]));
    row[partner] = -(float)(scale * pull);
    return l;
}

static void
hcl_run(const struct loss_batch *batch, const struct loss_settings *set,
        float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    double value = 0, floored = 0;

    (void)state;
    for (size_t r = 0; r < n; r++) {
        int at_floor;

        value += hcl_row(batch, set, r, s + r * rows, s + n * rows, &at_floor);
        floored += at_floor;
    }
    report->value = value / (double)n;
    values_add(&report->more, "floored", floored / (double)n);
}

const struct loss_objective loss_hcl = {
    .name = "hcl",
    .summary = "hard negatives weigh more, likely positives less",
    .params = params,
    .head = "512-128",
    .pairs = "it subtracts the score of one partner from the negatives",
    .run = hcl_run,
};
