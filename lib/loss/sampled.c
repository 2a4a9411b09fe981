#include "loss/rows.h"

#include "sampled.h"

double
loss_sampled_weigh(const struct loss_batch *batch,
                   const struct loss_settings *set, float *s)
{
    static const float one[2] = {1, 1};
    const size_t n = 2 * batch->b, rows = n + batch->extra;
    const double beta_n = 1 / (set->value[LOSS_TAU] * (double)n);
    double value = 0;

    REQUIRE(batch->weights);
    for (size_t r = 0; r < n; r++) {
        const float *scale = batch->scale ? batch->scale + 2 * r : one;
        const float *weight = batch->weights + r * rows;
        const size_t partner = loss_partner(batch->b, r);
        float *row = s + r * rows;

        for (size_t c = 0; c < rows; c++) {
            const double w = beta_n * ((double)scale[1] * weight[c] -
                                       (c == partner ? scale[0] : 0));

            value += w * row[c];
            row[c] = (float)w;
        }
    }
    return value;
}
