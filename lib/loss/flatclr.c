#include "flatclr.h"
#include "dcl.h"

static void
flatclr_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    (void)state;
    loss_decoupled(batch, set->value[LOSS_TAU], s, report);
    report->value = report->infonce;
}

static const struct param params[] = {LOSS_PARAM_TAU(0.1), {0}};

const struct loss_objective loss_flatclr = {
    .name = "flatclr",
    .summary = "FlatNCE: the gradient of dcl",
    .params = params,
    .head = "512-128",
    .run = flatclr_run,
};
