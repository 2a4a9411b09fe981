#include <math.h>

#include "objectives.h"

/*
 * DCL, decoupled contrastive learning: InfoNCE without the positives in the
 * denominator, that is, the global contrastive loss within the batch.
 *
 *     L    = 1/n sum_r ( log sum_c exp(beta s_rc) - beta mean_p s_rp )
 *     W_rc = beta/n ( q_rc - [c in P_r] / |P_r| ),   q = softmax
 *
 * over the m = n - v rows c of other images.  Yeh et al. 2022,
 * arXiv:2110.06848; EMC2, arXiv:2404.10575, eq. 1, within the batch.  L may be
 * negative.  No state.
 *
 * Reports `kl`, the divergence of q from uniform, mean over rows.
 */

static struct loss_term
dcl_row(const struct loss_batch *batch, const struct loss_settings *set,
        double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double n = (double)(views.v * views.b);
    const double beta = 1 / tau, scale = beta / n;
    const double m = (double)loss_mask_count(&views, LOSS_NEGATIVES);

    (void)set;
    (void)state;
    return (struct loss_term){.scale = scale,
                              .pull = scale,
                              .value = (q->log_z - beta * q->score) / n,
                              .kl = beta * q->mean - q->log_z + log(m)};
}

const struct loss_objective loss_dcl = {
    .name = "dcl",
    .summary = "InfoNCE without the positives in the denominator",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .row = dcl_row,
    .kl = "kl",
};

/*
 * FlatCLR, FlatNCE: the gradient of dcl from a value that is always 1,
 *
 *     L = 1/n sum_r exp( v_r - detach(v_r) ),
 *     v_r = log sum_c exp(beta (s_rc - mean_p s_rp))
 *
 * over the rows c of other images.  Chen et al. 2021, arXiv:2107.01152.  The
 * reported value is InfoNCE, as in the paper.  No state.
 */
static void
flatclr_finish(const struct loss_batch *batch, const struct loss_settings *set,
               const struct loss_term *term, float *state,
               struct loss_report *report)
{
    (void)batch;
    (void)set;
    (void)term;
    (void)state;
    report->value = report->infonce;
}

const struct loss_objective loss_flatclr = {
    .name = "flatclr",
    .summary = "FlatNCE: the gradient of dcl",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .row = dcl_row,
    .kl = "kl",
    .finish = flatclr_finish,
};
