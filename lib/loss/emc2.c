#include <float.h>
#include <math.h>

#include "num/vec.h"

#include "emc2.h"
#include "sampled.h"

void
loss_emc2_run(const struct loss_batch *batch, const struct loss_settings *set,
              float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    double all = 0, outside = 0, dropped;

    (void)state;
    report->value = loss_sampled_weigh(batch, set, s);
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

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective loss_emc2 = {
    .name = "emc2",
    .summary = "global loss, negatives drawn by Markov chains",
    .params = params,
    .head = "512-128",
    .needs_weights = "emc2",
    .draws_inside = 1,
    .run = loss_emc2_run,
};
