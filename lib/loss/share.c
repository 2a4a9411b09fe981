#include "loss/share.h"

/* Adds the row of one anchor. */
static void
add_anchor(struct loss_share *share, size_t rows, size_t r,
           const int64_t *sample, const int64_t *group, const float *w)
{
    double same_group_weight = 0, all = 0;
    size_t same_group = 0, negatives = 0;

    for (size_t c = 0; c < rows; c++) {
        const int negative = sample[c] != sample[r];
        const int near = negative & (group[c] == group[r]) & (group[c] >= 0);
        const double weight = negative && w[c] > 0 ? (double)w[c] : 0;

        negatives += (size_t)negative;
        same_group += (size_t)near;
        all += weight;
        same_group_weight += near ? weight : 0;
    }
    share->same_group_weight += same_group_weight;
    share->all += all;
    share->same_group += same_group;
    share->negatives += negatives;
}

void
loss_share_add(struct loss_share *share, size_t n, size_t rows, size_t columns,
               const int64_t *sample, const int64_t *group, const float *w)
{
    for (size_t r = 0; r < n; r++)
        add_anchor(share, rows, r, sample, group, w + r * columns);
}
