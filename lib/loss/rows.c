#include <math.h>

#include "loss/objective.h"
#include "loss/rows.h"

struct loss_views
loss_views_of(const struct loss_batch *batch)
{
    const size_t v = batch->v ? batch->v : 2;

    return (struct loss_views){batch->b, v,
                               batch->targets ? batch->targets : v};
}

size_t
loss_partner(size_t b, size_t row)
{
    return row < b ? row + b : row - b;
}

int
loss_positives_in(const struct loss_views *views, size_t r, size_t w)
{
    return w < views->targets && w != r / views->b;
}

size_t
loss_positives_count(const struct loss_views *views, size_t r)
{
    return views->targets - (r / views->b < views->targets);
}

size_t
loss_mask_count(const struct loss_views *views, enum loss_mask mask)
{
    const size_t b = views->b, n = views->v * b;

    return mask == LOSS_BATCH       ? n - 1
           : mask == LOSS_NEGATIVES ? n - views->v
           : mask == LOSS_CROSS     ? b
                                    : b - 1;
}

double
loss_log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;

    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

void
loss_share_add(struct loss_share *share, const struct loss_batch *batch,
               size_t r, size_t from, size_t to, double scale, const float *w)
{
    const int64_t *sample = batch->sample, *group = batch->group;

    for (size_t c = from; c < to; c++) {
        const int negative = sample[c] != sample[r];
        const int near = negative & (group[c] == group[r]) & (group[c] >= 0);
        const double own = scale * w[c - from];
        const double weight = negative && own > 0 ? own : 0;

        share->negatives += (size_t)negative;
        share->same_group += (size_t)near;
        share->all += weight;
        share->same_group_weight += near ? weight : 0;
    }
}
