#include <math.h>
#include <string.h>

#include "num/vec.h"

#include "objectives.h"

/*
 * SimCo, dual temperature: negatives are the other view's rows, and the weight
 * of a row comes from a second, higher temperature.
 *
 *     p, p' = softmax of row r over the b rows of the other view, at tau, at
 *             tau_inter
 *     L     = 1/n sum_r w_r ( -log p_partner ),
 *     w_r   = (1 - p'_partner) / (1 - p_partner)        a constant
 *     W_rc  = (1 - p'_partner) / (n tau) ( q_rc - [c = partner] )
 *
 * q = softmax at tau over the b - 1 rows without the partner: 1 - p, which
 * could overflow, cancels.  Zhang et al. 2022, arXiv:2203.17248.  The copy in
 * the iSogCLR repository has p in L at temperature 1 and only view 1 as
 * anchors; its w is not bounded.  No state.
 *
 * Reports `row_weight`, the mean of w_r.
 */

enum { TAU = LOSS_TAU, TAU_INTER };

static const struct param params[] = {
    LOSS_PARAM_TAU(0.1),
    [TAU_INTER] = {PARAM_REAL("tau-inter", 1, 1e-4, 1e4, "second temperature")},
    {0},
};

/* log(1 + e^x) / (e^x / (1 + e^x)): -log p over 1 - p, where x is the
 * log-partition of the negatives less the partner's exponent. */
static double
surprise_ratio(double x)
{
    if (x < -30)
        return 1; // with an error of e^x
    return (x > 30 ? x : log1p(exp(x))) * (1 + exp(-x));
}

/* 1 - p of the partner */
static double
negative_mass(double x)
{
    return 1 / (1 + exp(-x));
}

/* One row: S in, W out.  Returns n times its share of L and, in *weight, w. */
static double
simco_row(const struct loss_batch *batch, const struct loss_settings *set,
          size_t r, double *weight, float *row)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const size_t partner = loss_partner(b, r);
    // the reference has temperature 1 in L, and half of the rows
    const double beta[] = {1 / set->value[TAU_INTER], 1 / set->value[TAU],
                           set->reference ? 1 : 1 / set->value[TAU]};
    const double score = row[partner];
    double x[3], far, pull;

    for (int i = 0; i < 3; i++)
        x[i] =
            loss_row_partition(&views, rows, r, beta[i], LOSS_CROSS_NEGATIVES,
                               row, i == 2 ? row : NULL)
                .log_z -
            beta[i] * score;
    far = negative_mass(x[0]);
    *weight = far / negative_mass(x[1]);
    pull = set->reference ? 2 * *weight * negative_mass(x[2]) : far;
    num_scale(rows, (float)(beta[2] * pull / (double)(2 * b)), row);
    row[partner] = -(float)(beta[2] * pull / (double)(2 * b));
    return pull * surprise_ratio(x[2]);
}

static void
simco_run(const struct loss_batch *batch, const struct loss_settings *set,
          float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const size_t anchors = set->reference ? batch->b : n;
    double value = 0, weights = 0;

    (void)state;
    for (size_t r = 0; r < anchors; r++) {
        double weight;

        value += simco_row(batch, set, r, &weight, s + r * rows);
        weights += weight;
    }
    memset(s + anchors * rows, 0, (n - anchors) * rows * sizeof *s);
    report->value = value / (double)n;
    values_add(&report->more, "row_weight", weights / (double)anchors);
}

const struct loss_objective loss_simco = {
    .name = "simco",
    .summary = "two temperatures, negatives from the other view",
    .params = params,
    .head = "128-128",
    .pairs = "it weighs a row by the share of one partner",
    .run = simco_run,
};
