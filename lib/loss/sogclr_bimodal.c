#include "sogclr_bimodal.h"
#include "bimodal.h"

static const struct param params[] = {
    LOSS_PARAM_TAU(0.07),
    RUNNING_PARAM_GAMMA(0.8),
    {0},
};

static void
run(const struct loss_batch *batch, const struct loss_settings *set,
    float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    struct loss_bimodal_row sum = {0};

    for (size_t r = 0; r < n; r++, state += RUNNING_SOGCLR) {
        const struct loss_bimodal_row row = loss_bimodal_row(
            batch, set, r, set->value[TAU], state, s + r * rows);

        loss_bimodal_add(&sum, &row);
        loss_bimodal_keep(&row, state);
    }
    loss_bimodal_report(n, &sum, report);
}

static int
check(const struct loss_settings *set, size_t b, struct err *err)
{
    (void)b;
    if (!(set->value[GAMMA] > 0))
        return err_set(err, "gamma 0 would never take anything in");
    return 0;
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
    .check = check,
    .run = run,
};
