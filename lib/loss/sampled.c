#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"

/* ---- objectives with negatives from a service ---------------------------- */

/*
 * Adds the gradient of
 *
 *     W_rc = beta/n ( scale_r1 w_rc - scale_r0 [c = partner] ),
 *
 * beta = 1/tau, scale 1 without batch->scale; returns sum_rc W_rc s_rc.
 */
static double
add_sampled(const struct loss_batch *batch, const struct loss_settings *set,
            const float *v, float *dv, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra, d = batch->dim;
    const size_t moved = rows - batch->constant;
    const double beta_n = 1 / (set->value[LOSS_TAU] * (double)n);
    float *mean = mem_unset((2 * n + rows) * d, sizeof *mean); // w V
    float *scaled = mean + n * d, *back = scaled + n * d;
    double value = 0;

    REQUIRE(batch->weights);
    num_gemm_nn(n, d, rows, 1, batch->weights, v, 0, mean);
    for (size_t r = 0; r < n; r++) {
        const float *own = v + r * d;
        const size_t partner = loss_partner(batch->b, r);
        const double pull =
            beta_n * (batch->scale ? (double)batch->scale[2 * r] : 1);
        const double push =
            beta_n * (batch->scale ? (double)batch->scale[2 * r + 1] : 1);

        value += push * num_dot(d, own, mean + r * d) -
                 pull * num_dot(d, own, v + partner * d);
        memset(scaled + r * d, 0, d * sizeof *scaled);
        num_axpy(d, (float)push, own, scaled + r * d);
        num_axpy(d, (float)push, mean + r * d, dv + r * d);
        num_axpy(d, -(float)pull, v + partner * d, dv + r * d);
        num_axpy(d, -(float)pull, own, dv + partner * d);
        if (batch->group)
            loss_share_add(&report->share, batch, r, 0, moved, push,
                           batch->weights + r * rows);
    }
    num_gemm_tn(rows, d, n, 1, batch->weights, scaled, 0, back);
    num_axpy(moved * d, 1, back, dv);
    free(mean);
    return value;
}

/*
 * EMC2: the gradient of the global contrastive loss, with negatives drawn by
 * Markov chains.
 *
 *     W_rc = beta/n ( w_rc - [c = partner] ),   L = sum_rc W_rc s_rc
 *
 * Yau, Wai, Raman, Sarkar and Hong 2024, arXiv:2404.10575, eq. 11, with
 * beta = 1/tau.  w [n,rows] is the share of recorded steps in which the state
 * of row r's chain was column c.  The sampler computes it, in batch->weights;
 * states from outside of the batch are extra rows.  L is linear in S and says
 * little; see the report's infonce.  The sampler has the state.  Both terms of
 * a row are multiplied by batch->scale, if set.  Reports `outside`, the share
 * of w on rows from outside of the batch, and `dropped`, the mean of 1 - sum of
 * w over rows, for chains with stale scores.
 */

static void
emc2_run(const struct loss_batch *batch, const struct loss_settings *set,
         float *state, const float *v, float *dv, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    double all = 0, outside = 0, dropped;

    (void)state;
    report->value = add_sampled(batch, set, v, dv, report);
    for (size_t r = 0; r < n; r++) {
        const float *w = batch->weights + r * rows;
        const double beyond = num_sum(batch->extra, w + n);

        all += num_sum(n, w) + beyond;
        outside += beyond;
    }
    values_add(&report->more, "outside", outside / (double)n);
    // weights are rounded: a row may sum to slightly more or less than 1
    dropped = 1 - all / (double)n;
    values_add(&report->more, "dropped",
               fabs(dropped) <= 2 * FLT_EPSILON ? 0 : dropped);
}

const struct loss_objective loss_emc2 = {
    .name = "emc2",
    .summary = "global loss, negatives drawn by Markov chains",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.5), {0}},
    .head = "512-128",
    .needs_weights = "emc2",
    .draws_inside = 1,
    .pairs = "its negatives are drawn for two views",
    .run = emc2_run,
};

/*
 * EMC2 for pairs of two kinds, such as image and text: emc2 with chains
 * that walk only over the rows of the other view,
 *
 *     L = 1/2 E [ -beta s_ic + log sum over the texts c' of other images of
 *                  exp(beta s_ic') ]
 *       + 1/2 E [ -beta s_ic + log sum over the other images i' of
 *                  exp(beta s_i'c) ],
 *     W_rc = beta/n ( w_rc - [c = partner] ),
 *
 * i an image, c its text, rows r of both: two chains for each pair.  The
 * sampler computes w, SAMPLE_CROSS of sample/emc2.h; weights on rows of the
 * same view are refused.  lib/algorithms.md 3.8 and 4.1, after Yau and others
 * 2024, arXiv:2404.10575, equation 11.  Reports the same as emc2.
 */
const struct loss_objective loss_emc2_bimodal = {
    .name = "emc2_bimodal",
    .summary = "emc2 across the views, a chain for each side",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.07), {0}},
    .head = "512-128",
    .needs_weights = "emc2_bimodal",
    .cross_weights_only = 1,
    .draws_inside = 1,
    .pairs = "its negatives are drawn for two views",
    .run = emc2_run,
};

/*
 * The negative cache: the global contrastive loss with one negative per row,
 * drawn from the softmax over a bank of features.
 *
 * The gradient of -log p_+ with respect to a row's scores is
 * (1 - p_+) beta (E_p s_J - s_+), E_p over the negatives only.  With J drawn
 * from q, one draw estimates the mean:
 *
 *     W_rc = beta/n ( scale_r1 w_rc - scale_r0 [c = partner] ),
 *     scale_r = (1 - p_+, (1 - p_+) p(J)/q(J)),   w_rc = [c is J's row].
 *
 * Lindgren, Reddi, Guo and Kumar 2021, "Efficient Training of Retrieval Models
 * using Negative Cache"; lib/algorithms.md 4.3, with the current score of the
 * positive in p_+, and J drawn by an older query, weighted by its importance
 * (sample/cache.h).  w and scale are from the service, in batch->weights and
 * batch->scale; without scale all factors are 1, as in emc2.  L is
 * linear in S and says little; see the report's infonce.
 *
 * Reports `negative_mass`, the mean of 1 - p_+, and `importance_ess`: with x_r
 * = scale_r1 / scale_r0 over the rows with a draw, (sum x)^2 / sum x^2 divided
 * by their number; 1 if draws are as good as fresh ones.
 */
static void
cache_run(const struct loss_batch *batch, const struct loss_settings *set,
          float *state, const float *v, float *dv, struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    double mass = 0, sum = 0, squares = 0, drawn = 0;

    (void)state;
    report->value = add_sampled(batch, set, v, dv, report);
    for (size_t r = 0; r < n; r++) {
        const double positive = batch->scale ? batch->scale[2 * r] : 1;
        const double negative = batch->scale ? batch->scale[2 * r + 1] : 1;
        const double x = positive > 0 ? negative / positive : 0;

        mass += positive;
        sum += x;
        squares += x * x;
        drawn += x > 0;
    }
    values_add(&report->more, "negative_mass", mass / (double)n);
    values_add(&report->more, "importance_ess",
               squares > 0 ? sum * sum / squares / drawn : 0);
}

const struct loss_objective loss_cache = {
    .name = "cache",
    .summary = "global loss, negatives drawn from a bank of features",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.5), {0}},
    .head = "512-128",
    .needs_weights = "cache",
    .needs_outside = 1,
    .pairs = "its negatives are drawn for two views",
    .run = cache_run,
};
