#include "loss/emc2.h"
#include "loss/rows.h"

static void
run(const struct loss_batch *batch, const struct loss_param *param,
    float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double scale = 1 / (param->tau * (double)n);
    double value = 0, outside = 0;

    (void)state;
    REQUIRE(batch->weights);
    for (size_t r = 0; r < n; r++) {
        const size_t partner = loss_partner(batch->b, r);

        for (size_t c = n; c < rows; c++)
            outside += batch->weights[r * rows + c];
        for (size_t c = 0; c < rows; c++) {
            const double w =
                scale * (batch->weights[r * rows + c] - (c == partner));

            value += w * s[r * rows + c];
            s[r * rows + c] = (float)w;
        }
    }
    report->value = value;
    loss_report_more(report, "outside", outside / (double)n);
}

const struct loss_objective loss_emc2 = {
    .name = "emc2",
    .summary = "global loss, negatives drawn by Markov chains",
    .param = {.tau = 0.5},
    .reads = "tau",
    .head = "512-128",
    .wants_weights = 1,
    .run = run,
};
