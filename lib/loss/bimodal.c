#include "bimodal.h"

#include <math.h>

#include "loss/rows.h"
#include "num/vec.h"

/* The results of a row. */
struct row {
    double log_u;  /* new */
    double weight; /* sum_c w_rc / (b - 1) */
    double value;  /* sum_c w_rc (s_rc - s_r,partner) / (b - 1) */
    double slope;
};

/* Replaces row r of S by that of W. */
static struct row
bimodal_row(const struct loss_batch *batch, const struct loss_settings *set,
            size_t r, double tau, const float *state, float *row)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const size_t partner = loss_partner(b, r);
    const double own = row[partner], others = (double)(b - 1);
    const struct loss_row q = loss_row_partition(
        b, rows, r, 1 / tau, set->reference ? LOSS_CROSS : LOSS_CROSS_NEGATIVES,
        row, row);
    const double log_g = q.log_z - own / tau - log(others);
    const double log_u = loss_running_mean(set, state, log_g);
    const double weight = exp(log_g - log_u);
    const double scale = weight / (double)b;

    num_scale(rows, (float)scale, row);
    loss_partner_balance(rows, partner, row);
    return (struct row){
        .log_u = log_u,
        .weight = weight,
        .value = weight * (q.mean - own),
        .slope = log_u - weight * (q.mean - own) / tau,
    };
}

void
loss_bimodal_run(const struct loss_batch *batch,
                 const struct loss_settings *set, loss_bimodal_move *move,
                 float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    double value = 0, weight = 0;

    for (size_t r = 0; r < n; r++) {
        double tau = set->value[TAU];
        struct row row;

        if (move && !state[RUNNING_SEEN])
            state[RUNNING_TAU] = (float)tau;
        if (move)
            tau = state[RUNNING_TAU];
        row = bimodal_row(batch, set, r, tau, state, s + r * rows);
        value += row.value;
        weight += row.weight;
        state[RUNNING_LOG_U] = (float)row.log_u;
        state[RUNNING_SEEN] = 1;
        if (move)
            move(batch, set, row.slope, state);
        state += move ? RUNNING_ISOGCLR : RUNNING_SOGCLR;
    }
    report->value = 2 * value / (double)n;
    values_add(&report->more, "row_weight", weight / (double)n);
}
