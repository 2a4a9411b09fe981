#include <math.h>

#include "bimodal.h"
#include "isogclr_bimodal.h"

/* |G| is at most this. */
static const double steepest = 5;

/* The parameters of loss/running.h, but for the gap in place of rho. */
enum { RHO_GAP = RHO };

static const struct param params[] = {
    [TAU] = {PARAM_REAL("tau", 0.07, 1e-4, 1e4, "temperature"),
             .schedule = PARAM_LEARNT},
    RUNNING_PARAM_GAMMA(0.8),
    [RHO_GAP] = {PARAM_REAL("rho-gap", 1.5, -100, 100,
                            "rho is log(batch - 1) less this")},
    [ETA] = {PARAM_REAL("eta", 0.003, 0, 100, "rate of temperatures"),
             .schedule = PARAM_TO_END, .end = 1e-4},
    [BETA_U] = {PARAM_REAL("beta-u", 0.9, 0, 1,
                           "weight of the new value in their momentum")},
    [TAU_MIN] = {PARAM_REAL("tau-min", 0.005, 1e-4, 1e4, "least temperature")},
    [TAU_MAX] = {PARAM_REAL("tau-max", 1, 1e-4, 1e4, "largest temperature")},
    {0},
};

/* Moves the temperature of a row. */
static void
move(const struct loss_settings *set, double slope, float *state)
{
    const double g = fmin(fmax(slope, -steepest), steepest);
    const double beta_u = set->value[BETA_U];
    const double momentum = (1 - beta_u) * state[RUNNING_MOMENTUM] + beta_u * g;
    const double tau = state[RUNNING_TAU] - set->value[ETA] * momentum;

    state[RUNNING_MOMENTUM] = (float)momentum;
    state[RUNNING_TAU] =
        (float)fmin(fmax(tau, set->value[TAU_MIN]), set->value[TAU_MAX]);
}

static void
report_floor(const struct loss_settings *set, size_t n, const float *state,
             struct loss_report *report)
{
    const double least = set->value[TAU_MIN] * 1.0001;
    size_t floor = 0;

    for (size_t r = 0; r < n; r++)
        floor += state[r * RUNNING_ISOGCLR + RUNNING_TAU] <= least;
    loss_report_more(report, "tau_floor", (double)floor / (double)n);
}

static void
run(const struct loss_batch *batch, const struct loss_settings *set,
    float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double rho = log((double)(batch->b - 1)) - set->value[RHO_GAP];
    struct loss_bimodal_row sum = {0};

    for (size_t r = 0; r < n; r++) {
        float *mine = state + r * RUNNING_ISOGCLR;
        struct loss_bimodal_row row;

        if (!mine[RUNNING_SEEN])
            mine[RUNNING_TAU] = (float)set->value[TAU];
        row = loss_bimodal_row(batch, set, r, mine[RUNNING_TAU], mine,
                               s + r * rows);
        loss_bimodal_add(&sum, &row);
        loss_bimodal_keep(&row, mine);
        move(set, row.slope + rho, mine);
    }
    loss_bimodal_report(n, &sum, report);
    loss_report_more(report, "rho", rho);
    loss_running_temperatures_report(n, state, report);
    report_floor(set, n, state, report);
}

static int
check(const struct loss_settings *set, size_t b, struct err *err)
{
    (void)b;
    if (!(set->value[GAMMA] > 0))
        return err_set(err, "gamma 0 would never take anything in");
    if (!(set->value[TAU_MIN] <= set->value[TAU] &&
          set->value[TAU] <= set->value[TAU_MAX]))
        return err_set(err, "tau %g is not within tau-min %g and tau-max %g",
                       set->value[TAU], set->value[TAU_MIN],
                       set->value[TAU_MAX]);
    if (!set->reference && !(set->value[RHO_GAP] > 0))
        return err_set(err,
                       "rho-gap %g: no softmax over the other texts is that "
                       "far from uniform, so every temperature would slide to "
                       "tau-min: give more than 0",
                       set->value[RHO_GAP]);
    return 0;
}

const struct loss_objective loss_isogclr_bimodal = {
    .name = "isogclr_bimodal",
    .summary = "sogclr_bimodal, temperatures learnt for each side",
    .params = params,
    .head = "512-128",
    .columns = RUNNING_ISOGCLR,
    .sides = 1,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = check,
    .run = run,
};
