#ifndef SELECT_SOFTEN_H
#define SELECT_SOFTEN_H

#include "select/strategy.h"

/*
 * select_soften() brings an epoch from as hard as its strategy has made it
 * down to the hardness h of the parameters: of the weight within its batches
 * (select/score.h) remains
 *
 *     W_h = W_0 + h (W_1 - W_0)
 *
 * where W_1 is the weight it came with, and W_0 what random batches of the
 * same samples have on average:
 *
 *     W_0 = sum_c b_c (b_c - 1) / (n (n - 1))  sum_{i<j} w_ij
 *
 * So h = 1 leaves all as it is, h = 0 is about as hard as a shuffle, and
 * between them the mean batch loss follows near a straight line.  Random
 * samples of random batches change places until W <= W_h; this brings no two
 * of one group into a batch, and samples without features stay.  Each batch
 * keeps a share of its samples: all become less hard, not some of them random.
 *
 * Random sets of k = `block` batches (of 40 where that is 0, of 4,096 samples
 * at most) are treated by themselves, each with its own W_0 and W_1, spread
 * over threads; their number does not show in the result.  As partners come
 * into a set together, its W_0 lies about (W_1 - W_0) / k above that of all
 * samples.  O(N block batch d).
 */
void select_soften(const struct select_task *task, int64_t *ids);

#endif
