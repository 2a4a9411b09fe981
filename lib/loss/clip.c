#include <math.h>

#include "loss/rows.h"
#include "num/vec.h"

#include "clip.h"

const struct loss_scalar loss_clip_scalars[] = {
    LOSS_SCALAR_TAU(CLIP_FIXED),
    {0},
};

double
loss_clip_weigh(const struct loss_batch *batch, double tau, float *s,
                double *slope)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / tau, scale = beta / (double)n;
    double value = 0;

    *slope = 0;
    for (size_t r = 0; r < n; r++, s += rows) {
        const size_t partner = loss_partner(b, r);
        const double score = s[partner];
        const struct loss_row q =
            loss_row_partition(b, rows, r, beta, LOSS_CROSS, s, s);

        num_scale(rows, (float)scale, s);
        loss_partner_balance(rows, partner, s);
        value += (q.log_z - beta * score) / (double)n;
        *slope += scale * (q.mean - score);
    }
    return value;
}

static void
clip_run(const struct loss_batch *batch, const struct loss_settings *set,
         float *state, float *s, struct loss_report *report)
{
    (void)state;
    report->value =
        loss_clip_weigh(batch, set->value[CLIP_TAU], s, report->slope);
}

static const struct param params[] = {CLIP_PARAMS(0.07), {0}};

const struct loss_objective loss_clip = {
    .name = "clip",
    .summary = "InfoNCE across the views, temperature learnt",
    .params = params,
    .head = "512-128",
    .scalars = loss_clip_scalars,
    .run = clip_run,
};
