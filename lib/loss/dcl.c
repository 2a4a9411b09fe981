#include <math.h>
#include <stdlib.h>

#include "loss/rows.h"
#include "util/mem.h"

#include "dcl.h"

struct dcl_row {
    double value, kl;
};

double
loss_decoupled(const struct loss_batch *batch, double tau, float *s,
               struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / tau;
    const double log_m = log((double)loss_mask_count(b, LOSS_NEGATIVES));
    const float scale = (float)(beta / (double)n);
    struct dcl_row *each = mem_array(n, sizeof *each);
    double value = 0, kl = 0;

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const size_t partner = loss_partner(b, r);
        const double score = row[partner];
        const struct loss_row q =
            loss_row_partition(b, rows, r, beta, LOSS_NEGATIVES, row, row);

        each[r] = (struct dcl_row){q.log_z - beta * score,
                                   beta * q.mean - q.log_z + log_m};
        for (size_t c = 0; c < n; c++)
            row[c] *= scale;
        row[partner] -= scale;
    }
    for (size_t r = 0; r < n; r++) {
        value += each[r].value;
        kl += each[r].kl;
    }
    free(each);
    values_add(&report->more, "kl", kl / (double)n);
    return value / (double)n;
}

static void
dcl_run(const struct loss_batch *batch, const struct loss_settings *set,
        float *state, float *s, struct loss_report *report)
{
    (void)state;
    report->value = loss_decoupled(batch, set->value[LOSS_TAU], s, report);
}

static const struct param params[] = {LOSS_PARAM_TAU(0.1), {0}};

const struct loss_objective loss_dcl = {
    .name = "dcl",
    .summary = "InfoNCE without the partner in the denominator",
    .params = params,
    .head = "512-128",
    .run = dcl_run,
};
