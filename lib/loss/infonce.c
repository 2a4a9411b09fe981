#include "objectives.h"

/*
 * SimCLR's NT-Xent, InfoNCE over all views: each row classifies its positives,
 * of two views its partner, among the n - 1 other rows.
 *
 *     L    = 1/n sum_r ( log sum_{c != r} exp(beta s_rc) - beta mean_p s_rp )
 *     W_rc = beta/n ( p_rc - [c in P_r] / |P_r| ),   p = softmax over c != r
 *
 * Chen, Kornblith, Norouzi and Hinton 2020, arXiv:2002.05709, eq. 1, with
 * beta = 1/tau; with more than two views L_out of Khosla et al. 2020,
 * arXiv:2004.11362, eq. 2, the image as the class.  Equal rows give log(n - 1).
 * It ignores extra rows.  No state.  The reference code of the
 * iSogCLR paper computes it with SupCon's class, which multiplies value and
 * gradient by tau / 0.07.
 */
static double
simclr_times(const struct loss_settings *set)
{
    return set->reference ? set->value[LOSS_TAU] / 0.07 : 1;
}

static struct loss_term
simclr_row(const struct loss_batch *batch, const struct loss_settings *set,
           double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double n = (double)(views.v * views.b), beta = 1 / tau;
    const double scale = simclr_times(set) * beta / n;

    (void)state;
    return (struct loss_term){.scale = scale,
                              .pull = scale,
                              .value = simclr_times(set) / n *
                                       (q->log_z - beta * q->score)};
}

const struct loss_objective loss_simclr = {
    .name = "simclr",
    .summary = "NT-Xent over the batch",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.5), {0}},
    .head = "512-128",
    .row = simclr_row,
};

/*
 * InfoNCE across the views: each row classifies its positive in another view,
 * of two views its partner, among the b rows of that view.
 *
 *     L    = 2/n sum_r mean_p ( log sum_{c of the view of p} exp(beta s_rc)
 *                               - beta s_rp )
 *     W_rc = 2 beta/(n |P_r|) ( p_rc - [c in P_r] ),
 *
 * p_rc the softmax over the rows of a view that has a positive; 0 elsewhere.
 * The full graph of Tian, Krishnan and Isola 2019, arXiv:1906.05849: the mean
 * over all pairs of views.  Of two views both directions are
 * added, so L is twice that of CLIP.  The theory of batches of Cho et al. 2023,
 * arXiv:2307.05906, is about these at beta = 1: with d >= b - 1 the minimum is
 * 2 log(1 + (b - 1) exp(-b / (b - 1))), if the views of an image agree and all
 * cosines of different images are -1 / (b - 1).  Equal rows give 2 log b.  It
 * ignores extra rows.  No state.
 */

static struct loss_term
infonce_row(const struct loss_batch *batch, const struct loss_settings *set,
            double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double n = (double)(views.v * views.b);
    const double beta = 1 / tau, scale = 2 * beta / n;

    (void)set;
    (void)state;
    return (struct loss_term){.scale = scale,
                              .pull = scale,
                              .value = 2 / n * (q->log_z - beta * q->score)};
}

const struct loss_objective loss_infonce = {
    .name = "infonce",
    .summary = "InfoNCE across the views, both directions",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .scale = 2,
    .mask = {LOSS_CROSS, LOSS_CROSS},
    .row = infonce_row,
};
