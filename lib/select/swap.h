#ifndef SELECT_SWAP_H
#define SELECT_SWAP_H

#include "select/strategy.h"

/*
 * swap: a shuffle, then exchanges of samples between batches as long as they
 * raise the weight within batches (select/exchange.h, select/score.h).
 *
 * Each block of `block` batches is rearranged by itself until no exchange of
 * two of its samples is better, with two kicks per batch.  A block of 40
 * batches of 32 takes about ten milliseconds.  A block of n samples needs 4 n^2
 * bytes per thread; blocks are cut to 4,096 samples.
 *
 * block = 0 rearranges the whole data set, in memory linear in N.  In blocks, a
 * sample can share a batch only with neighbours that the shuffle puts into the
 * same block, which are few if N is large.  With block = 0 each sample gets a
 * list of near neighbours (select/links.h), samples are ordered so that linked
 * ones are together in stretches of about 1,280, and each stretch is rearranged
 * as a block.  Then rounds sort the batches by their mean features
 * (select/links.h) into other stretches and rearrange these: at most 20
 * rounds, until a round gains less than a thousandth.  O(N d log N) per round.
 *
 * Reads tau, block.  Samples without features do not move from their place in
 * the shuffle.  Blocks run in threads; the result does not depend on their
 * number.
 */
extern const struct select_strategy select_strategy_swap;

/*
 * select_swap_improve() does the same to an epoch of any strategy (refine):
 * ids [select_layout_total()].  The task has features.  With block = 0 it does
 * only the rounds, starting from the current batches.
 */
void select_swap_improve(const struct select_task *task, int64_t *ids);

#endif
