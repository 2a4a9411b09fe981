#include <math.h>
#include <stdlib.h>

#include "util/mem.h"

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

struct dcl_row {
    double value, kl;
};

/* Replaces S by W, reports kl and returns L. */
static double
weigh_decoupled(const struct loss_batch *batch, double tau, float *s,
                struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b, rows = n + batch->extra;
    const double beta = 1 / tau;
    const double log_m = log((double)loss_mask_count(&views, LOSS_NEGATIVES));
    const float scale = (float)(beta / (double)n);
    struct dcl_row *each = mem_array(n, sizeof *each);
    double value = 0, kl = 0;

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const double score = loss_positives_mean(&views, r, row);
        const struct loss_row q =
            loss_row_partition(&views, rows, r, beta, LOSS_NEGATIVES, row, row);

        each[r] = (struct dcl_row){q.log_z - beta * score,
                                   beta * q.mean - q.log_z + log_m};
        for (size_t c = 0; c < n; c++)
            row[c] *= scale;
        loss_positives_add(&views, r, -(double)scale, row);
    }
    for (size_t r = 0; r < n; r++) {
        value += each[r].value;
        kl += each[r].kl;
    }
    free(each);
    values_add(&report->more, "kl", kl / (double)n);
    return value / (double)n;
}

static void
dcl_run(const struct loss_batch *batch, const struct loss_settings *set,
        float *state, float *s, struct loss_report *report)
{
    (void)state;
    report->value = weigh_decoupled(batch, set->value[LOSS_TAU], s, report);
}

const struct loss_objective loss_dcl = {
    .name = "dcl",
    .summary = "InfoNCE without the positives in the denominator",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .run = dcl_run,
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
flatclr_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    (void)state;
    weigh_decoupled(batch, set->value[LOSS_TAU], s, report);
    report->value = report->infonce;
}

const struct loss_objective loss_flatclr = {
    .name = "flatclr",
    .summary = "FlatNCE: the gradient of dcl",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .run = flatclr_run,
};
