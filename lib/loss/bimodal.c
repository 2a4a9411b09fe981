#include "bimodal.h"

#include <math.h>

#include "loss/rows.h"
#include "num/vec.h"

struct loss_bimodal_row
loss_bimodal_row(const struct loss_batch *batch,
                 const struct loss_settings *set, size_t r, double tau,
                 const float *state, float *row)
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
    return (struct loss_bimodal_row){
        .log_u = log_u,
        .weight = weight,
        .value = weight * (q.mean - own),
        .slope = log_u - weight * (q.mean - own) / tau,
    };
}

void
loss_bimodal_keep(const struct loss_bimodal_row *row, float *state)
{
    state[RUNNING_LOG_U] = (float)row->log_u;
    state[RUNNING_SEEN] = 1;
}

void
loss_bimodal_add(struct loss_bimodal_row *sum,
                 const struct loss_bimodal_row *row)
{
    sum->weight += row->weight;
    sum->value += row->value;
}

void
loss_bimodal_report(size_t n, const struct loss_bimodal_row *sum,
                    struct loss_report *report)
{
    report->value = 2 * sum->value / (double)n;
    loss_report_more(report, "weight", sum->weight / (double)n);
}
