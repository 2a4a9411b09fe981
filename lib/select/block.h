#ifndef SELECT_BLOCK_H
#define SELECT_BLOCK_H

#include "select/strategy.h"

#include "exchange.h"

/*
 * Some batches of an epoch, taken out to be rearranged together: the samples
 * in them, what each pair weighs (select/score.h), and which of them may not
 * be in one batch, or not move.  A sample without features weighs nothing and
 * stays where it is. Pairs of one sample that comes twice, or of one group,
 * weigh so little that no exchange gains by bringing them together.
 */
struct block {
    struct select_exchange exchange;
    int64_t *id;   /* [n] the samples */
    size_t *start; /* [k+1] */
    float *w;      /* [n,n] */
    uint8_t *fixed;
    uint32_t *item;
    double penalty; /* what a pair of one group weighs less; no exchange that
                       joins and parts none gains or loses half as much */
};

/* select_block_cut() returns how many of `count` batches make a block that is
 * not above 4,096 samples: two at least. */
size_t select_block_cut(const struct select_layout *layout, size_t count);

/*
 * select_block_init() takes out k batches.
 *   step [k]  which ones
 *   ids       of the whole epoch
 * O(n^2 d) time, 4 n^2 bytes.
 */
void select_block_init(struct block *block, const struct select_task *task,
                       size_t k, const int64_t *step, const int64_t *ids);

/* select_block_store() puts them back, as they are now. */
void select_block_store(const struct block *block,
                        const struct select_task *task, const int64_t *step,
                        int64_t *ids);
void select_block_release(struct block *block);

#endif
