#include "loss/rows.h"
#include "num/vec.h"

#include "infonce.h"

static void
run(const struct loss_batch *batch, const struct loss_param *param,
    float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / param->tau, scale = beta / (double)b;

    (void)state;
    report->value = loss_partition(b, rows, beta, LOSS_OTHER, s, s) / (double)b;
    num_scale(n * rows, (float)scale, s);
    for (size_t r = 0; r < n; r++)
        s[r * rows + loss_partner(b, r)] -= (float)scale;
}

const struct loss_objective loss_infonce_objective = {
    .name = "infonce",
    .summary = "InfoNCE across the views, both directions",
    .param = {.tau = 0.1},
    .reads = "tau",
    .head = "512-128",
    .run = run,
};
