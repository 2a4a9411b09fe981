#include "eval/share.h"

void
eval_share_add(struct eval_share *share, const struct eval_views *views,
               const struct eval_batch *batch, const float *w)
{
    for (size_t r = 0; r < 2 * batch->b; r++, w += batch->columns)
        for (size_t c = 0; c < batch->rows; c++) {
            const size_t row = batch->row[r], other = batch->row[c];
            const double weight = w[c] > 0 ? (double)w[c] : 0;
            const int kin = eval_views_kin(views, row, other);

            if (row % views->samples == other % views->samples)
                continue;
            share->all += weight;
            share->negatives++;
            share->own += kin ? weight : 0;
            share->kin += kin != 0;
        }
}
