#include <math.h>

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

/* The reference has temperature 1 in L, and half of the rows. */
static double
simco_beta(const struct loss_settings *set, size_t k)
{
    if (k == 0 && set->reference)
        return 1;
    return 1 / set->value[k == 1 ? TAU_INTER : TAU];
}

static struct loss_term
simco_row(const struct loss_batch *batch, const struct loss_settings *set,
          double tau, const float *state, const struct loss_row *q)
{
    double x[3], far, weight, pull;

    (void)tau;
    (void)state;
    if (set->reference && q->view)
        return (struct loss_term){0};
    for (size_t k = 0; k < 3; k++)
        x[k] = q[k].log_z - simco_beta(set, k) * q->score;
    far = negative_mass(x[1]);
    weight = far / negative_mass(x[2]);
    pull = set->reference ? 2 * weight * negative_mass(x[0]) : far;
    return (struct loss_term){
        .scale = simco_beta(set, 0) * pull / (double)(2 * batch->b),
        .pull = simco_beta(set, 0) * pull / (double)(2 * batch->b),
        .value = pull * surprise_ratio(x[0]) / (double)(2 * batch->b),
        .weight = set->reference ? 2 * weight : weight};
}

const struct loss_objective loss_simco = {
    .name = "simco",
    .summary = "two temperatures, negatives from the other view",
    .params = params,
    .head = "128-128",
    .pairs = "it weighs a row by the share of one partner",
    .mask = {LOSS_CROSS_NEGATIVES, LOSS_CROSS_NEGATIVES},
    .softmaxes = 3,
    .beta = simco_beta,
    .row = simco_row,
    .weight = "row_weight",
};
