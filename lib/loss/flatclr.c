#include "flatclr.h"
#include "dcl.h"

static void
run(const struct loss_batch *batch, const struct loss_param *param,
    float *state, float *s, struct loss_report *report)
{
    (void)state;
    loss_decoupled(batch, param->tau, s, report);
    report->value = report->infonce;
}

const struct loss_objective loss_flatclr = {
    .name = "flatclr",
    .summary = "FlatNCE: the gradient of dcl",
    .param = {.tau = 0.1},
    .reads = "tau",
    .head = "512-128",
    .run = run,
};
