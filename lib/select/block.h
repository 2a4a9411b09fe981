#ifndef SELECT_BLOCK_H
#define SELECT_BLOCK_H

#include "select/strategy.h"

#include "exchange.h"

/*
 * A copy of some batches of an epoch, to be rearranged together: their samples,
 * the weight of each pair (select/score.h), and which samples must not share a
 * batch or must not move.  A sample without features has no weight and does not
 * move.  A pair of the same sample, or of samples of one group, has such a low
 * weight that no exchange gains by bringing it together.
 */
struct block {
    struct select_exchange exchange; /* its arrays are owned */
    int64_t *id;                     /* [n] the samples */
    double penalty; /* subtracted from the weight of a pair of one group; an
                       exchange that neither joins nor separates such a pair
                       gains or loses less than half of it */
};

/* select_block_cut() returns how many of `count` batches make a block of at
 * most 4,096 samples; at least two. */
size_t select_block_cut(const struct select_layout *layout, size_t count);

/*
 * select_block_init() copies k batches.
 *   step [k]  their numbers
 *   ids       of the whole epoch
 * O(n^2 d) time, 4 n^2 bytes.
 */
void select_block_init(struct block *block, const struct select_task *task,
                       size_t k, const int64_t *step, const int64_t *ids);

/* select_block_store() writes them back to the epoch. */
void select_block_store(const struct block *block,
                        const struct select_task *task, const int64_t *step,
                        int64_t *ids);
void select_block_release(struct block *block);

#endif
