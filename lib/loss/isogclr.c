#include "loss/rows.h"

#include "isogclr.h"
#include "running.h"

static struct loss_running_row
isogclr_row(const struct loss_batch *batch, const struct loss_settings *set,
            size_t r, const float *state, float *row)
{
    const float *own = state + r % batch->b * RUNNING_ISOGCLR;

    return loss_running_row(batch, set, r, own[RUNNING_TAU], own, row);
}

static void
isogclr_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    loss_running_temperatures(batch, set, isogclr_row, state, s, report);
}

static int
isogclr_check(const struct loss_settings *set, size_t b, struct err *err)
{
    return loss_running_check(set, b, LOSS_NEGATIVES, err);
}

static const struct param params[] = {
    RUNNING_PARAMS,
    [OLD_MEAN] = {PARAM_FLAG("old-mean",
                             "temperatures as in the paper: by the old mean, "
                             "without a bound")},
    {0},
};

const struct loss_objective loss_isogclr = {
    .name = "isogclr",
    .summary = "sogclr with a temperature learnt for each image",
    .params = params,
    .head = "512-128",
    .scale = 2,
    .scale_by_tau = 1,
    .columns = RUNNING_ISOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = isogclr_check,
    .run = isogclr_run,
};
