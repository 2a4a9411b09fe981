#pragma once

#include "select/strategy.h"
#include "util/rng.h"

/*
 * The local search of the strategy swap: it exchanges two items of two batches
 * as long as that raises the weight within the batches,
 *
 *     W = sum over batches of sum_{i<j in the batch} w_ij .
 *
 * With S_i(c) = sum_{l in c} w_il, stored for each item and batch, the gain of
 * exchanging i of batch a with j of batch c is
 *
 *     S_i(c) - S_i(a) + S_j(a) - S_j(c) - 2 w_ij .
 *
 * One of the two items must gain by itself, so for an item only the batches
 * with S_i(c) > S_i(a) are searched; the best exchange is made.  Items to visit
 * are in a queue; an exchange puts the items of both batches back into it.
 * When the queue is empty no exchange of two items raises W.
 *
 * Then each kick mixes two random batches and searches again; if the result has
 * a lower W it is undone.
 */
struct select_exchange {
    size_t n, k;    /* items, batches */
    float *w;       /* [n,n] symmetric, diagonal 0; pairs that must not
                       share a batch have a negative weight that exceeds
                       every gain */
    uint8_t *fixed; /* [n] 1: does not move; NULL: all move */
    size_t *start;  /* [k+1] batch c is item[start[c]..start[c+1]) */
    uint32_t *item; /* [n] a permutation of 0 .. n-1 */
    size_t kicks;   /* >= 0 */
};

/*
 * select_exchange_run() rearranges item[] and returns the new W, never lower
 * than the old one.  A function of its arguments alone.  O(n) for each
 * exchange, O(k + batch) to O(n) for each visit of the queue; memory 4 n k
 * bytes.
 */
double select_exchange_run(const struct select_exchange *task, struct rng *rng);

/* select_exchange_gain() returns the gain of an exchange of item i of batch a
 * with item j of batch c, summed in double: O(batch). */
double select_exchange_gain(const struct select_exchange *task, size_t a,
                            uint32_t i, size_t c, uint32_t j);

/* select_exchange_weight() returns the current W, summed in double:
 * O(n batch). */
double select_exchange_weight(const struct select_exchange *task);

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
