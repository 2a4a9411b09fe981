#include <math.h>
#include <stdlib.h>

#include "loss/rows.h"
#include "num/vec.h"
#include "util/mem.h"

#include "clip.h"

const struct loss_scalar loss_clip_scalars[] = {
    LOSS_SCALAR_TAU(CLIP_FIXED),
    {0},
};

struct clip_row {
    double value, slope;
};

double
loss_clip_weigh(const struct loss_batch *batch, double tau, float *s,
                double *slope)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / tau, scale = beta / (double)n;
    struct clip_row *each = mem_array(n, sizeof *each);
    double value = 0;

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const size_t partner = loss_partner(b, r);
        const double score = row[partner];
        const struct loss_row q =
            loss_row_partition(b, rows, r, beta, LOSS_CROSS, row, row);

        num_scale(rows, (float)scale, row);
        loss_partner_balance(rows, partner, row);
        each[r] = (struct clip_row){(q.log_z - beta * score) / (double)n,
                                    scale * (q.mean - score)};
    }
    *slope = 0;
    for (size_t r = 0; r < n; r++) {
        value += each[r].value;
        *slope += each[r].slope;
    }
    free(each);
    return value;
}

static void
clip_run(const struct loss_batch *batch, const struct loss_settings *set,
         float *state, float *s, struct loss_report *report)
{
    (void)state;
    report->value =
        loss_clip_weigh(batch, set->value[CLIP_TAU], s, report->slope);
}

static const struct param params[] = {CLIP_PARAMS(0.07), {0}};

const struct loss_objective loss_clip = {
    .name = "clip",
    .summary = "InfoNCE across the views, temperature learnt",
    .params = params,
    .head = "512-128",
    .scalars = loss_clip_scalars,
    .run = clip_run,
};
