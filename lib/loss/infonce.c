#include "loss/rows.h"
#include "num/vec.h"

#include "infonce.h"

static void
infonce_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / set->value[LOSS_TAU], scale = beta / (double)b;

    (void)state;
    report->value = loss_partition(b, rows, beta, LOSS_CROSS, s, s) / (double)b;
#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        num_scale(rows, (float)scale, s + r * rows);
        s[r * rows + loss_partner(b, r)] -= (float)scale;
    }
}

static const struct param params[] = {LOSS_PARAM_TAU(0.1), {0}};

const struct loss_objective loss_infonce_objective = {
    .name = "infonce",
    .summary = "InfoNCE across the views, both directions",
    .params = params,
    .head = "512-128",
    .scale = 2,
    .run = infonce_run,
};
