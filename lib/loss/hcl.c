#include <math.h>

#include "loss/hcl.h"
#include "loss/rows.h"

/* log(1 + e^x) */
static double
softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* log of N exp(-x_partner) without its floor: of A's log the same way.  -inf
 * where the positives that are taken off leave nothing. */
static double
debiased(double log_a, double m, double tau_plus)
{
    const double off = tau_plus * m * exp(-log_a);

    return off >= 1 ? -INFINITY : log_a + log1p(-off) - log1p(-tau_plus);
}

static void
run(const struct loss_batch *batch, const struct loss_param *param,
    float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double tau = param->tau, low = param->beta / tau,
                 high = low + 1 / tau;
    const double m = (double)loss_mask_count(b, LOSS_FAMILY);
    const double scale = 1 / (tau * (double)n);
    double value = 0, floored = 0;

    (void)state;
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const size_t partner = loss_partner(b, r);
        const double x = row[partner] / tau;
        const double z1 =
            loss_row_partition(b, rows, r, high, LOSS_FAMILY, row, NULL).log_z;
        const double z0 =
            loss_row_partition(b, rows, r, low, LOSS_FAMILY, row, NULL).log_z;
        const double log_a = log(m) + z1 - z0 - x;
        const double least = log(m) - 1 / tau - x;
        const double free = debiased(log_a, m, param->tau_plus);
        const int at_floor = free < least;
        const double l = softplus(at_floor ? least : free);
        // dL/dx_partner, and what the negatives share
        const double pull = at_floor ? exp(least - l)
                                     : exp(log_a - log1p(-param->tau_plus) - l);

        value += l;
        floored += at_floor;
        for (size_t c = 0; c < n; c++)
            row[c] =
                at_floor || c == r
                    ? 0
                    : (float)(scale * pull *
                              ((1 + param->beta) * exp(high * row[c] - z1) -
                               param->beta * exp(low * row[c] - z0)));
        for (size_t c = n; c < rows; c++)
            row[c] = 0;
        row[partner] = (float)(-scale * pull);
    }
    report->value = value / (double)n;
    loss_report_more(report, "floored", floored / (double)n);
}

const struct loss_objective loss_hcl = {
    .name = "hcl",
    .summary = "hard negatives weigh more, likely positives less",
    .param = {.tau = 0.5, .beta = 0.5, .tau_plus = 0.1},
    .reads = "tau beta tau-plus",
    .head = "512-128",
    .run = run,
};
