#ifndef SELECT_EXCHANGE_H
#define SELECT_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

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

/*
 * select_exchange_gain() returns the gain of an exchange of item i of batch a
 * with item j of batch c, summed in double: O(batch).
 */
double select_exchange_gain(const struct select_exchange *task, size_t a,
                            uint32_t i, size_t c, uint32_t j);

/* select_exchange_weight() returns the current W, summed in double:
 * O(n batch). */
double select_exchange_weight(const struct select_exchange *task);

#endif
