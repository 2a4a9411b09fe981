#include <math.h>

#include "bimodal.h"
#include "isogclr_bimodal.h"

/* The bound of |G|. */
static const double steepest = 5;

/* The parameters of loss/running.h, with the gap instead of rho. */
enum { RHO_GAP = RHO };

static const struct param params[] = {
    [TAU] = {PARAM_REAL("tau", 0.07, 1e-4, 1e4, "temperature"),
             .schedule = PARAM_LEARNT},
    RUNNING_PARAM_GAMMA(0.8),
    [RHO_GAP] = {PARAM_REAL("rho-gap", 1.5, -100, 100,
                            "rho is log(batch - 1) minus this")},
    [ETA] = {PARAM_REAL("eta", 0.003, 0, 100, "rate of temperatures"),
             .schedule = PARAM_TO_END, .end = 1e-4},
    [BETA_U] = {PARAM_REAL("beta-u", 0.9, 0, 1,
                           "weight of the new value in their momentum")},
    [TAU_MIN] = {PARAM_REAL("tau-min", 0.005, 1e-4, 1e4, "least temperature")},
    [TAU_MAX] = {PARAM_REAL("tau-max", 1, 1e-4, 1e4, "largest temperature")},
    {0},
};

static double
rho_of(size_t b, const struct loss_settings *set)
{
    return log((double)(b - 1)) - set->value[RHO_GAP];
}

static void
move_temperature(const struct loss_batch *batch,
                 const struct loss_settings *set, double slope, float *state)
{
    const double g =
        fmin(fmax(slope + rho_of(batch->b, set), -steepest), steepest);
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
    values_add(&report->more, "tau_at_min", (double)floor / (double)n);
}

static void
isogclr_bimodal_run(const struct loss_batch *batch,
                    const struct loss_settings *set, float *state, float *s,
                    struct loss_report *report)
{
    const size_t n = 2 * batch->b;

    loss_bimodal_run(batch, set, move_temperature, state, s, report);
    values_add(&report->more, "rho", rho_of(batch->b, set));
    loss_running_temperatures_report(n, state, report);
    report_floor(set, n, state, report);
}

static int
isogclr_bimodal_check(const struct loss_settings *set, size_t b,
                      struct err *err)
{
    if (loss_running_check(set, 0, LOSS_CROSS_NEGATIVES, err))
        return -1;
    if (!set->reference && !(set->value[RHO_GAP] > 0))
        return err_set(err,
                       "rho-gap %g: no softmax over the other texts is that "
                       "far from uniform, so every temperature would slide to "
                       "tau-min: give more than 0",
                       set->value[RHO_GAP]);
    if (!set->reference && b && rho_of(b, set) <= 0)
        return err_set(err,
                       "rho-gap %g leaves no rho above 0 in batches of %zu, so "
                       "every temperature would rise to tau-max: give less "
                       "than log(%zu) = %.3g, or larger batches",
                       set->value[RHO_GAP], b, b - 1, log((double)(b - 1)));
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
    .check = isogclr_bimodal_check,
    .run = isogclr_bimodal_run,
};
