#include <math.h>

#include "sogclr.h"

/* SogCLR and iSogCLR for two kinds of rows: each row of one view against those
 * of the other, relative to its partner, with its own running mean. */

/*
 * Updates the temperature of a row.
 *   slope  log_u - sum_c w_rc x_rc / (b - 1): G without rho
 *   state  of the row, [RUNNING_ISOGCLR], its mean the new one
 */
typedef void move_fn(const struct loss_batch *batch,
                     const struct loss_settings *set, double slope,
                     float *state);

/* The term of a row. */
static struct loss_term
bimodal_row(const struct loss_batch *batch, const struct loss_settings *set,
            double tau, const float *state, const struct loss_row *q)
{
    const double score = q->score, others = (double)(batch->b - 1);
    const double log_g = q->log_z - score / tau - log(others);
    const double log_u = loss_running_mean(set, state, log_g);
    const double weight = exp(log_g - log_u);

    return (struct loss_term){
        .scale = weight / (double)batch->b,
        .pull = weight / (double)batch->b,
        .log_u = log_u,
        .weight = weight,
        .value = weight * (q->mean - score) / (double)batch->b,
        .slope = log_u - weight * (q->mean - score) / tau,
    };
}

/*
 * Updates the state by the terms of all rows.
 *   move   updates learnt temperatures; NULL: all are tau
 *   state  [2 b,RUNNING_ISOGCLR], without move [2 b,RUNNING_SOGCLR]
 */
static void
finish_bimodal(const struct loss_batch *batch, const struct loss_settings *set,
               move_fn *move, const struct loss_term *term, float *state)
{
    const size_t n = 2 * batch->b;

    for (size_t r = 0; r < n; r++) {
        state[RUNNING_LOG_U] = (float)term[r].log_u;
        state[RUNNING_SEEN] = 1;
        if (move)
            move(batch, set, term[r].slope, state);
        state += move ? RUNNING_ISOGCLR : RUNNING_SOGCLR;
    }
}

/*
 * SogCLR for pairs of two kinds, such as image and text: the global loss of
 * both directions, with running means as denominators,
 *
 *     x_rc  = (s_rc - s_r,partner) / tau
 *     g_r   = sum_c exp(x_rc) / (b - 1)
 *     u_r   = (1 - gamma) u_r + gamma g_r         g_r at the first visit
 *     w_rc  = exp(x_rc) / u_r
 *     W_rc  = w_rc / (b (b - 1)),   W_r,partner -= sum_c w_rc / (b (b - 1)),
 *
 * c over the rows of the other view without the partner.  The value is that of
 * the surrogate, 1/b sum_rc w_rc (s_rc - s_r,partner) / (b - 1): its gradient
 * is that of the global loss, its value says little; see infonce.
 *
 * With --compat reference c includes the partner, and the first visit is not
 * special: it starts from u = 0.
 *
 * Columns {log_u, seen} for each side: that of an image, and that of its text
 * or other view.  Qiu and others 2023, "Not All Semantics are Created Equal",
 * algorithm 2 with fixed temperatures; lib/algorithms.md 3.8.
 */

static const struct param sogclr_bimodal_params[] = {
    LOSS_PARAM_TAU(0.07),
    RUNNING_PARAM_GAMMA(0.8),
    {0},
};

static void
sogclr_bimodal_finish(const struct loss_batch *batch,
                      const struct loss_settings *set,
                      const struct loss_term *term, float *state,
                      struct loss_report *report)
{
    finish_bimodal(batch, set, NULL, term, state);
    (void)report;
}

const struct loss_objective loss_sogclr_bimodal = {
    .name = "sogclr_bimodal",
    .summary = "sogclr across the views, a mean for each side",
    .params = sogclr_bimodal_params,
    .head = "512-128",
    .columns = RUNNING_SOGCLR,
    .sides = 1,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = loss_running_check_gamma,
    .pairs = loss_two_kinds,
    .mask = {LOSS_CROSS_NEGATIVES, LOSS_CROSS},
    .row = bimodal_row,
    .weight = "row_weight",
    .finish = sogclr_bimodal_finish,
};

/*
 * iSogCLR for pairs of two kinds: sogclr_bimodal with a learned
 * temperature for each image and for each text,
 *
 *     G_r   = log u_r + rho - sum_c w_rc x_rc / (b - 1), clipped to +-5
 *     m_r   = (1 - beta_u) m_r + beta_u G_r
 *     tau_r = clip(tau_r - eta m_r, tau_min, tau_max)        after the step
 *     rho   = log(b - 1) - rho_gap.
 *
 * rho is the target divergence from uniform.  A softmax over b - 1 others
 * diverges at most by log(b - 1), so rho_gap must be above 0; with log(b - 1)
 * or more, as with the default if b <= 5, every temperature would rise to
 * tau_max, and it is refused.  With .4, as published, temperatures fall to
 * tau_min on small data; 1.5 is the default.  Qiu and others 2023, "Not All
 * Semantics are Created Equal", algorithm 2; lib/algorithms.md 3.8.
 *
 * Columns {log_u, seen, momentum, tau} for each side.  Reports rho and, for the
 * temperatures of both sides, mean, least, largest, quartiles, and the share at
 * tau_min as `tau_at_min`.
 */

/* The bound of |G|. */
static const double steepest = 5;

/* The parameters of sogclr.h, with the gap instead of rho. */
enum { RHO_GAP = RHO };

static const struct param isogclr_bimodal_params[] = {
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
isogclr_bimodal_finish(const struct loss_batch *batch,
                       const struct loss_settings *set,
                       const struct loss_term *term, float *state,
                       struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    const double least = set->value[TAU_MIN] * 1.0001;
    size_t floor = 0;

    finish_bimodal(batch, set, move_temperature, term, state);
    values_add(&report->more, "rho", rho_of(batch->b, set));
    loss_running_temperatures_report(n, state, report);
    for (size_t r = 0; r < n; r++)
        floor += state[r * RUNNING_ISOGCLR + RUNNING_TAU] <= least;
    values_add(&report->more, "tau_at_min", (double)floor / (double)n);
}

static int
isogclr_bimodal_check(const struct loss_settings *set,
                      const struct loss_views *views, struct err *err)
{
    const struct loss_views unknown = {0};
    const size_t b = views->b;

    if (loss_running_check(set, &unknown, LOSS_CROSS_NEGATIVES, err))
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
    .params = isogclr_bimodal_params,
    .head = "512-128",
    .columns = RUNNING_ISOGCLR,
    .sides = 1,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = isogclr_bimodal_check,
    .pairs = loss_two_kinds,
    .mask = {LOSS_CROSS_NEGATIVES, LOSS_CROSS},
    .own_tau = RUNNING_TAU,
    .row = bimodal_row,
    .weight = "row_weight",
    .finish = isogclr_bimodal_finish,
};
