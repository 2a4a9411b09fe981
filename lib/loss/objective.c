#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loss/emc2.h"
#include "loss/objective.h"
#include "loss/rows.h"
#include "loss/simclr.h"
#include "num/gemm.h"
#include "num/vec.h"

const struct loss_objective loss_objectives[] = {
    {.name = "simclr", .summary = "NT-Xent over the batch", .run = loss_simclr},
    {.name = "emc2",
     .summary = "global loss, negatives drawn by Markov chains",
     .wants_weights = 1,
     .run = loss_emc2},
    {0},
};

const struct loss_objective *
loss_objective_find(const char *name, struct err *err)
{
    char list[256] = "";
    size_t len = 0;

    for (const struct loss_objective *o = loss_objectives; o->name; o++) {
        if (!strcmp(o->name, name))
            return o;
        len += (size_t)snprintf(list + len, sizeof list - len, " %s", o->name);
        REQUIRE(len < sizeof list);
    }
    err_set(err, "no objective '%s'; there are:%s", name, list);
    return NULL;
}

/* Scratch, in floats: v and lengths, S or W, and what loss_spread() wants. */
size_t
loss_objective_size(const struct loss_batch *batch)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;

    return rows * batch->d + rows + n * rows + rows * rows;
}

/* The mean cosine of two anchors: from |sum v|^2 = n + sum of the others. */
static void
report_spread(size_t n, size_t d, const float *v, const float *s, size_t rows,
              struct loss_report *report)
{
    double squares = 0, deviation = 0, positive = 0;

    for (size_t k = 0; k < d; k++) {
        double sum = 0, square = 0;

        for (size_t r = 0; r < n; r++) {
            sum += v[r * d + k];
            square += (double)v[r * d + k] * v[r * d + k];
        }
        squares += sum * sum;
        deviation += sqrt(fmax(0, square - sum * sum / (double)n) / (double)n);
    }
    for (size_t r = 0; r < n; r++)
        positive += s[r * rows + loss_partner(n / 2, r)];
    report->positive = positive / (double)n;
    report->cosine = (squares - (double)n) / ((double)n * (double)(n - 1));
    report->deviation = deviation / sqrt((double)d);
}

void
loss_objective_run(const struct loss_objective *objective,
                   const struct loss_param *param,
                   const struct loss_batch *batch, const float *z, float *state,
                   float *dz, float *work, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra, d = batch->d;
    float *v = work, *length = v + rows * d, *s = length + rows;
    float *scratch = s + n * rows;

    REQUIRE(batch->b >= 2 && d >= 1 && param->tau > 0);
    num_unit_rows(rows, d, z, v, length);
    num_gemm_nt(n, rows, d, 1, v, v, 0, s);
    report_spread(n, d, v, s, rows, report);
    objective->run(batch, param, state, s, report);
    loss_spread(n, rows, d, s, v, dz, scratch);
    num_unit_rows_back(rows, d, v, length, dz, dz);
}
