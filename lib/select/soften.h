#ifndef SELECT_SOFTEN_H
#define SELECT_SOFTEN_H

#include "select/strategy.h"

/*
 * select_soften() reduces the hardness of an epoch to the parameter h, that is,
 * the weight within its batches (select/score.h) to
 *
 *     W_h = W_0 + h (W_1 - W_0).
 *
 * W_1 is the current weight, and W_0 the mean weight of random batches of the
 * same samples:
 *
 *     W_0 = sum_c b_c (b_c - 1) / (n (n - 1))  sum_{i<j} w_ij
 *
 * So h = 1 changes nothing, h = 0 is about as hard as a shuffle, and between
 * them the mean batch loss is nearly linear in h.  Random samples of random
 * batches are exchanged until W <= W_h.  No exchange brings two samples of one
 * group into a batch, and samples without features do not move.  All batches
 * become less hard, because each retains a share of its samples.
 *
 * Random sets of k = `block` batches (40 if that is 0; at most 4,096 samples)
 * are processed independently, each with its own W_0 and W_1, in threads; the
 * result does not depend on their number.  Samples of one hard batch are in the
 * same set, so its W_0 is about (W_1 - W_0) / k above that of all samples.
 * O(N block batch d).
 */
void select_soften(const struct select_task *task, int64_t *ids);

#endif
