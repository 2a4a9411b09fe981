#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "clip.h"
#include "cyclip.h"

enum { WITHIN = CLIP_OWN, ACROSS };

static const struct param params[] = {
    CLIP_PARAMS(0.07),
    [WITHIN] = {PARAM_REAL("within", 0.25, 0, 1e6,
                           "weight of similarities within the views")},
    [ACROSS] = {PARAM_REAL("across", 0.25, 0, 1e6,
                           "weight of similarities across the views")},
    {0},
};

/* Adds the two terms to W, and sets sums to their values.  s is a copy of S. */
static void
weigh_cycles(const struct loss_batch *batch, const struct loss_settings *set,
             const float *s, float *w, double sums[2])
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const double within = set->value[WITHIN] / (double)b;
    const double across = set->value[ACROSS] / (double)b;

    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            const double d =
                (double)s[i * rows + j] - s[(b + i) * rows + b + j];
            const double x = (double)s[i * rows + b + j] - s[j * rows + b + i];

            w[i * rows + j] += (float)(2 * within * d);
            w[(b + i) * rows + b + j] -= (float)(2 * within * d);
            w[i * rows + b + j] += (float)(4 * across * x);
            sums[0] += within * d * d;
            sums[1] += across * x * x;
        }
}

static void
cyclip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t count = 2 * batch->b * (2 * batch->b + batch->extra);
    float *copy = mem_array(count, sizeof *copy);
    double sums[2] = {0};

    (void)state;
    memcpy(copy, s, count * sizeof *copy);
    report->value =
        loss_clip_weigh(batch, set->value[CLIP_TAU], s, report->slope);
    weigh_cycles(batch, set, copy, s, sums);
    report->value += sums[0] + sums[1];
    values_add(&report->more, "within", sums[0]);
    values_add(&report->more, "across", sums[1]);
    free(copy);
}

const struct loss_objective loss_cyclip = {
    .name = "cyclip",
    .summary = "clip, and similarities that agree between the views",
    .params = params,
    .head = "512-128",
    .scalars = loss_clip_scalars,
    .run = cyclip_run,
};
