#include <math.h>
#include <stdlib.h>

#include "loss/rows.h"
#include "util/mem.h"

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
    struct loss_running_row *each = mem_array(2 * b, sizeof *each);
    struct running_sums sums = {0};

#pragma omp parallel for schedule(static) if (2 * b * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < 2 * b; r++)
        each[r] =
            loss_running_row(batch, set, r, set->value[TAU],
                             state + r % b * RUNNING_SOGCLR, s + r * rows);
    for (size_t k = 0; k < b; k++, state += RUNNING_SOGCLR) {
        loss_running_add(&sums, each + k);
        loss_running_add(&sums, each + b + k);
        loss_running_store(state, each[k].log_u, each[b + k].log_u);
        if (set->reference) // their sum
            state[RUNNING_LOG_U] += (float)log(2);
    }
    loss_running_report(batch, &sums, report);
    free(each);
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
    .scale = 2,
    .scale_by_tau = 1,
    .columns = RUNNING_SOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = sogclr_check,
    .run = sogclr_run,
};
