#include "loss/simclr.h"
#include "loss/rows.h"

double
loss_infonce(const struct loss_batch *batch, double tau, const float *s)
{
    const size_t n = 2 * batch->b;

    return loss_partition(batch->b, n + batch->extra, 1 / tau, LOSS_SELF, s,
                          NULL) /
           (double)n;
}

void
loss_simclr(const struct loss_batch *batch, const struct loss_param *param,
            float *state, float *s, struct loss_report *report)
{
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double beta = 1 / param->tau;
    const float scale = (float)(beta / (double)n);

    (void)state;
    report->value =
        loss_partition(batch->b, rows, beta, LOSS_SELF, s, s) / (double)n;
    report->infonce = report->value;

    // W = beta/n (p - I_partner)
    for (size_t i = 0; i < n * rows; i++)
        s[i] *= scale;
    for (size_t r = 0; r < n; r++)
        s[r * rows + loss_partner(batch->b, r)] -= scale;
}
