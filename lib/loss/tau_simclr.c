#include <math.h>

#include "objectives.h"

/*
 * TaU, temperature as uncertainty: the last column e of z is the certainty of
 * the encoder about the view; the others are the embedding.
 *
 *     t_r = 1 / (1 + exp(-e_r)),   x_rc = s_rc t_r / tau
 *     L   = 1/n sum_r ( log sum_c exp(x_rc) - x_r,partner )
 *
 * over the rows c of other images.  Zhang, Wu, Bayrooti and Goodman 2021,
 * arXiv:2110.04403.  The reference code uses t of the first view for the
 * partner of both views, and adds 1e-6 to the sum.  No state.
 *
 * Reports mean, least and largest t.
 */

/* Added to each sum by the reference code. */
static const double reference_eps = 1e-6;

static double
certainty_of(double e)
{
    return 1 / (1 + exp(-e));
}

static void
tau_simclr_temper(const struct loss_batch *batch,
                  const struct loss_settings *set, double *tau)
{
    for (size_t r = 0; r < 2 * batch->b; r++)
        tau[r] = set->value[LOSS_TAU] / certainty_of(batch->aux[r]);
}

/* The term of a row: weight is dL/dt of its t, -slope that of its partner's. */
static struct loss_term
tau_simclr_row(const struct loss_batch *batch, const struct loss_settings *set,
               double tau, const float *state, const struct loss_row *q)
{
    const double n = 2 * (double)batch->b;
    const double to_partner = set->reference ? q->first : tau;
    const double log_z =
        set->reference ? loss_log_add(q->log_z, log(reference_eps)) : q->log_z;
    const double share = exp(q->log_z - log_z) / n;

    (void)state;
    return (struct loss_term){
        .scale = share / tau,
        .pull = 1 / (to_partner * n),
        .value = (log_z - q->score / to_partner) / n,
        .weight = share * q->mean / set->value[LOSS_TAU],
        .slope = q->score / (set->value[LOSS_TAU] * n),
    };
}

static void
tau_simclr_finish(const struct loss_batch *batch,
                  const struct loss_settings *set, const struct loss_term *term,
                  float *state, struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b;
    double sum = 0, least = 1, most = 0;

    (void)state;
    for (size_t r = 0; r < n; r++) {
        const size_t other = loss_partner(b, r);
        const double t = certainty_of(batch->aux[r]);
        // with the reference t of the first view scales the partner of both
        const double pull = !set->reference ? term[r].slope
                            : r < b         ? term[r].slope + term[other].slope
                                            : 0;

        batch->aux[r] = (float)(t * (1 - t) * (term[r].weight - pull));
        sum += t;
        least = fmin(least, t);
        most = fmax(most, t);
    }
    values_add(&report->more, "certainty_mean", sum / (double)n);
    values_add(&report->more, "certainty_min", least);
    values_add(&report->more, "certainty_max", most);
}

const struct loss_objective loss_tau_simclr = {
    .name = "tau_simclr",
    .summary = "a temperature that the encoder predicts for each view",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.07), {0}},
    .head = "512-129",
    .aux_columns = 1,
    .pairs = "it scales a row's score of one partner",
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .temper = tau_simclr_temper,
    .row = tau_simclr_row,
    .finish = tau_simclr_finish,
};
