#include <math.h>
#include <string.h>

#include "loss/rows.h"

#include "siglip.h"

enum { TAU = LOSS_TAU, FIXED, BIAS };

static const struct param params[] = {
    LOSS_PARAM_TAU_LEARNT(0.1),
    [FIXED] = {PARAM_FLAG("fixed-tau",
                          "the temperature stays, it is not learnt")},
    [BIAS] = {PARAM_REAL("bias", -10, -1000, 1000,
                         "what is added to scores at the start"),
              .schedule = PARAM_LEARNT},
    {0},
};

static const struct loss_scalar scalars[] = {
    LOSS_SCALAR_TAU(FIXED),
    {"logit_bias", BIAS, LOSS_NEVER_FIXED, 0, -INFINITY, INFINITY},
    {0},
};

static void
siglip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const double beta = 1 / set->value[TAU], scale = beta / (double)b;

    (void)state;
    for (size_t i = 0; i < b; i++)
        for (size_t c = 0; c < rows; c++) {
            float *at = s + i * rows + c;
            const double y = c == b + i ? 1 : -1;
            const double x = -y * (beta * *at + set->value[BIAS]);
            const double w = -scale * y / (1 + exp(-x));

            if (c >= b && c < 2 * b) {
                report->value += loss_log_add(0, x) / (double)b;
                report->slope[0] += w * *at;
                report->slope[1] += w / beta;
            }
            *at = c >= b && c < 2 * b ? (float)w : 0;
        }
    memset(s + b * rows, 0, b * rows * sizeof *s);
}

const struct loss_objective loss_siglip = {
    .name = "siglip",
    .summary = "each pair of views by a sigmoid of its own",
    .params = params,
    .head = "512-128",
    .scalars = scalars,
    .run = siglip_run,
};
