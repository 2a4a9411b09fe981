#include "loss/objective.h"
#include "t.h"

static void
add(struct loss_share *share, const struct loss_batch *batch, const float *w)
{
    for (size_t r = 0; r < 6; r++)
        loss_share_add(share, batch, r, 0, 6, 0.5, w + r * 7);
}

/* Three samples of two views, 0 and 1 of one group: W by hand. */
int
main(void)
{
    static const int64_t sample[] = {0, 1, 2, 0, 1, 2};
    static const int64_t group[] = {4, 4, 7, 4, 4, 7};
    static const int64_t alone[] = {-1, -1, -1, -1, -1, -1};
    struct loss_batch batch = {.sample = sample, .group = group};
    struct loss_share share = {0};
    float w[6 * 7] = {0};

    w[0 * 7 + 1] = 1;     // of sample 1: the same group
    w[0 * 7 + 2] = .5f;   // of sample 2
    w[0 * 7 + 3] = -1.5f; // the partner
    w[1 * 7 + 4] = 16;    // its other view: no negative
    w[1 * 7 + 3] = .25f;  // of sample 0: the same group
    w[2 * 7 + 0] = 2;     // another group
    w[2 * 7 + 1] = -3;    // the positive: no weight
    w[2 * 7 + 6] = 16;    // a constant
    add(&share, &batch, w);
    T_NEAR(share.same_group_weight, .625, 1e-9, "on the same group");
    T_NEAR(share.all, 1.875, 1e-9, "on all negatives");
    T(share.negatives == 24, "four negatives of each of six");
    T(share.same_group == 8, "two of each of four are of the same group");
    add(&share, &batch, w);
    T(share.same_group == 16 && share.all == 3.75, "batches add up");
    share = (struct loss_share){0};
    batch.group = alone;
    add(&share, &batch, w);
    T(share.same_group_weight <= 0 && !share.same_group,
      "samples of no group share none");
    return t_done();
}
