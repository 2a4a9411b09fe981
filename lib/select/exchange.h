#ifndef SELECT_EXCHANGE_H
#define SELECT_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "util/rng.h"

/*
 * The local search behind the strategy swap: two items of two batches change
 * places wherever that raises the weight within the batches,
 *
 *     W = sum over batches of sum_{i<j in the batch} w_ij .
 *
 * With S_i(c) = sum_{l in c} w_il, known for each item and batch, the gain of
 * exchanging i of batch a with j of batch c is
 *
 *     S_i(c) - S_i(a) + S_j(a) - S_j(c) - 2 w_ij .
 *
 * One of the two must rise by itself, so an item looks only at the batches
 * with S_i(c) > S_i(a), and takes the best exchange there.  Items wait in a
 * queue; an exchange puts the members of both batches back into it.  When the
 * queue is empty no exchange of two items raises W.
 *
 * A kick then mixes two random batches and searches on; where that ends lower
 * it is taken back.
 */
struct select_exchange {
    size_t n, k;          /* items, batches */
    const float *w;       /* [n,n] symmetric, diagonal 0; pairs that are not
                             to meet carry a negative weight that outweighs
                             every gain */
    const uint8_t *fixed; /* [n] 1: stays where it is; NULL: none does */
    const size_t *start;  /* [k+1] batch c is item[start[c]..start[c+1]) */
    uint32_t *item;       /* [n] a permutation of 0 .. n-1 */
    size_t kicks;         /* >= 0 */
    size_t moves;         /* at most so many exchanges in all; 0: no limit */
};

/*
 * select_exchange_run() rearranges item[] and returns the W that it reaches;
 * never lower than the one it came with.  A function of its arguments alone.
 * O(n) an exchange, O(k + batch) to O(n) a visit of the queue; memory 4 n k
 * bytes.
 */
double select_exchange_run(const struct select_exchange *task, struct rng *rng);

/*
 * select_exchange_gain() returns what the exchange of item i of batch a with
 * item j of batch c would gain, in double, by adding up: O(batch).
 */
double select_exchange_gain(const struct select_exchange *task, size_t a,
                            uint32_t i, size_t c, uint32_t j);

/* select_exchange_weight() returns W as it stands, in double: O(n batch). */
double select_exchange_weight(const struct select_exchange *task);

#endif
