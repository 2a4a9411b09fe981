#ifndef SELECT_SWAP_H
#define SELECT_SWAP_H

#include "select/strategy.h"

/*
 * swap: a shuffled epoch whose samples change places between batches as long
 * as that raises the weight within them (select/exchange.h, select/score.h).
 *
 * `block` batches are rearranged together, each block by itself, until no
 * exchange of two of its samples is better, with two kicks per batch.  A block
 * of 40 batches of 32 takes some ten milliseconds; memory is 4 n^2 bytes for
 * a block of n samples, for each thread; blocks are cut to 4,096 samples.
 *
 * block = 0 rearranges the whole data set, in memory linear in N.  In blocks,
 * a sample meets its neighbours only where the shuffle has put them into its
 * block, which is seldom where N is large.  Here each sample gets a list of
 * near neighbours (select/links.h); samples are ordered so that the linked
 * ones come together, in stretches of some 1,280; and each stretch is
 * rearranged as a block.  Then batches are sorted by their mean features
 * (select/region.h) into other stretches, and so on: at most 20 times, until a
 * round gains less than a thousandth.  O(N d log N) a round.
 *
 * Reads tau, block.  Samples without features stay where the shuffle put
 * them.  Blocks are spread over threads; their number does not show in the
 * result.
 */
extern const struct select_strategy select_strategy_swap;

void select_swap(const struct select_task *task, int64_t *ids);

/*
 * select_swap_improve() does the same to an epoch that any strategy has made
 * (refine): ids [select_layout_total()].  The task has features.  With
 * block = 0 it is the batches, as they come, that are sorted.
 */
void select_swap_improve(const struct select_task *task, int64_t *ids);

#endif
