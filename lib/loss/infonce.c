#include "num/vec.h"

#include "objectives.h"

/* Replaces S by W = scale (p - [c = partner]), p the softmax over the columns
 * of a mask; returns loss_partition(). */
static double
weigh_softmax(const struct loss_batch *batch, double beta, double scale,
              enum loss_mask mask, float *s)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double sum = loss_partition(batch->b, rows, beta, mask, s, s);

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        num_scale(rows, (float)scale, s + r * rows);
        s[r * rows + loss_partner(batch->b, r)] -= (float)scale;
    }
    return sum;
}

/*
 * SimCLR's NT-Xent, InfoNCE over both views: each row classifies its partner
 * among the 2b - 1 other rows.
 *
 *     L    = 1/n sum_r ( log sum_{c != r} exp(beta s_rc) - beta s_r,partner )
 *     W_rc = beta/n ( p_rc - [c = partner] ),   p = softmax over c != r
 *
 * Chen, Kornblith, Norouzi and Hinton 2020, arXiv:2002.05709, eq. 1, with
 * beta = 1/tau.  Equal rows give log(2b - 1).  It ignores extra rows.  No
 * state. The reference code of the iSogCLR paper computes it with SupCon's
 * class, which multiplies value and gradient by tau / 0.07.
 */
static void
simclr_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const double n = 2 * (double)batch->b, beta = 1 / set->value[LOSS_TAU];
    const double times = set->reference ? set->value[LOSS_TAU] / 0.07 : 1;

    (void)state;
    report->value =
        times / n * weigh_softmax(batch, beta, times * beta / n, LOSS_BATCH, s);
}

const struct loss_objective loss_simclr = {
    .name = "simclr",
    .summary = "NT-Xent over the batch",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.5), {0}},
    .head = "512-128",
    .run = simclr_run,
};

double
loss_simclr_value(const struct loss_batch *batch, double tau, const float *s)
{
    const size_t n = 2 * batch->b;

    return loss_partition(batch->b, n + batch->extra, 1 / tau, LOSS_BATCH, s,
                          NULL) /
           (double)n;
}

/*
 * InfoNCE across the views: each row classifies its partner among the b rows of
 * the other view, in both directions.
 *
 *     L    = 1/b sum_r ( log sum_{c of the other view} exp(beta s_rc)
 *                        - beta s_r,partner )              over all n rows
 *     W_rc = beta/b ( p_rc - [c = partner] ),   p = softmax over those c
 *
 * The two directions are added, so L is twice that of CLIP.  The theory of
 * batches of Cho et al. 2023, arXiv:2307.05906, is about this loss at beta = 1:
 * with d >= b - 1 its minimum is 2 log(1 + (b - 1) exp(-b / (b - 1))), if the
 * views of an image agree and all cosines of different images are -1 / (b - 1).
 * Equal rows give 2 log b.  It ignores extra rows.  No state.
 */
static void
infonce_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    const double b = (double)batch->b, beta = 1 / set->value[LOSS_TAU];

    (void)state;
    report->value = weigh_softmax(batch, beta, beta / b, LOSS_CROSS, s) / b;
}

const struct loss_objective loss_infonce = {
    .name = "infonce",
    .summary = "InfoNCE across the views, both directions",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .scale = 2,
    .run = infonce_run,
};
