#include "cache.h"
#include "sampled.h"

static void
cache_run(const struct loss_batch *batch, const struct loss_settings *set,
          float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    double mass = 0, sum = 0, squares = 0, drawn = 0;

    (void)state;
    report->value = loss_sampled_weigh(batch, set, s);
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

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective loss_cache = {
    .name = "cache",
    .summary = "global loss, negatives drawn from a bank of features",
    .params = params,
    .head = "512-128",
    .needs_weights = "cache",
    .needs_outside = 1,
    .run = cache_run,
};
