#include "sogclr_bimodal.h"
#include "bimodal.h"

static const struct param params[] = {
    LOSS_PARAM_TAU(0.07),
    RUNNING_PARAM_GAMMA(0.8),
    {0},
};

static void
sogclr_bimodal_run(const struct loss_batch *batch,
                   const struct loss_settings *set, float *state, float *s,
                   struct loss_report *report)
{
    loss_bimodal_run(batch, set, NULL, state, s, report);
}

const struct loss_objective loss_sogclr_bimodal = {
    .name = "sogclr_bimodal",
    .summary = "sogclr across the views, a mean for each side",
    .params = params,
    .head = "512-128",
    .columns = RUNNING_SOGCLR,
    .sides = 1,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = loss_running_check_gamma,
    .run = sogclr_bimodal_run,
};
