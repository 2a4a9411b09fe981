#include <math.h>

#include "loss/rows.h"

#include "running.h"
#include "sogclr.h"

static const struct param params[] = {
    LOSS_PARAM_TAU(0.1),
    RUNNING_PARAM_GAMMA(0.9),
    {0},
};

static void
sogclr_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    struct running_sums sums = {0};

    for (size_t k = 0; k < b; k++, state += RUNNING_SOGCLR) {
        struct loss_running_row view[2];

        for (size_t v = 0; v < 2; v++) {
            const size_t r = k + v * b;

            view[v] = loss_running_row(batch, set, r, set->value[TAU], state,
                                       s + r * rows);
            loss_running_add(&sums, view + v);
        }
        loss_running_store(state, view[0].log_u, view[1].log_u);
        if (set->reference) // their sum
            state[RUNNING_LOG_U] += (float)log(2);
    }
    loss_running_report(batch, &sums, report);
}

static int
sogclr_check(const struct loss_settings *set, size_t b, struct err *err)
{
    if (loss_running_check_gamma(set, b, err))
        return -1;
    if (set->reference && set->value[GAMMA] <= 0.5)
        return err_set(err,
                       "gamma %g: the reference stores the sum of both views, "
                       "which grows without bound: want more than 0.5",
                       set->value[GAMMA]);
    return 0;
}

const struct loss_objective loss_sogclr = {
    .name = "sogclr",
    .summary = "global loss, denominators by running means",
    .params = params,
    .head = "512-128",
    .columns = RUNNING_SOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = sogclr_check,
    .run = sogclr_run,
};
