#ifndef SELECT_SWAP_H
#define SELECT_SWAP_H

#include "select/strategy.h"

/*
 * swap: a shuffled epoch whose samples change places between batches as long
 * as that raises the weight within them (select/exchange.h, select/score.h).
 *
 * `block` batches are rearranged together, each block by itself: blocks of 40
 * batches of 32 take some ten milliseconds each.  Within a block the result
 * is a plan that no exchange of two samples betters, kicked twice per batch.
 *
 * block = 0 rearranges the whole data set, in memory linear in N: batches
 * whose samples are close in feature space are brought together in regions,
 * each region is rearranged as a block, and the regions are formed anew.
 *
 * Reads tau, block.  Samples without features stay where the shuffle put
 * them.  Blocks are spread over threads; their number does not show in the
 * result.
 */
void select_swap(const struct select_task *task, int64_t *ids);

/*
 * select_swap_improve() does the same to an epoch that any strategy has made
 * (--refine): ids [select_layout_total()].  The task has features.
 */
void select_swap_improve(const struct select_task *task, int64_t *ids);

#endif
