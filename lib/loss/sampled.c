#include "loss/rows.h"
#include "num/vec.h"
#include "util/clones.h"

#include "sampled.h"

/* Computes the row of W without the partner's term. */
static UTIL_CLONES(void, weigh_row,
                   (size_t rows, double beta_n, double scale,
                    const float *weight, float *row),
                   (rows, beta_n, scale, weight, row))
{
    for (size_t c = 0; c < rows; c++)
        row[c] = (float)(beta_n * (scale * weight[c]));
}

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

        value += beta_n * ((double)scale[1] * num_dot(rows, weight, row) -
                           (double)scale[0] * row[partner]);
        weigh_row(rows, beta_n, scale[1], weight, row);
        row[partner] =
            (float)(beta_n * ((double)scale[1] * weight[partner] - scale[0]));
    }
    return value;
}
