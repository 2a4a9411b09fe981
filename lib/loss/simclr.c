#include "loss/rows.h"
#include "num/vec.h"

#include "simclr.h"

double
loss_infonce(const struct loss_batch *batch, double tau, const float *s)
{
    const size_t n = 2 * batch->b;

    return loss_partition(batch->b, n + batch->extra, 1 / tau, LOSS_BATCH, s,
                          NULL) /
           (double)n;
}

static void
simclr_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double times = set->reference ? set->value[LOSS_TAU] / 0.07 : 1;
    const double beta = 1 / set->value[LOSS_TAU],
                 scale = times * beta / (double)n;

    (void)state;
    report->value = times / (double)n *
                    loss_partition(batch->b, rows, beta, LOSS_BATCH, s, s);
#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        num_scale(rows, (float)scale, s + r * rows);
        s[r * rows + loss_partner(batch->b, r)] -= (float)scale;
    }
}

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective loss_simclr = {
    .name = "simclr",
    .summary = "NT-Xent over the batch",
    .params = params,
    .head = "512-128",
    .run = simclr_run,
};
