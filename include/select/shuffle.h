#ifndef SELECT_SHUFFLE_H
#define SELECT_SHUFFLE_H

#include "select/strategy.h"
#include "util/rng.h"

/*
 * shuffle: a uniformly random permutation of all samples in each epoch, cut
 * into batches in order (sampling without replacement; lib/algorithms.md 5.3).
 * Its random numbers are keyed by (seed, epoch).  With wrap the last batch is
 * filled from the start of the permutation.  O(N).
 *
 * fixed: the permutation of epoch 0 in every epoch.  Samples of different
 * batches are never contrasted, so training does not minimise the loss of the
 * whole data set: with batches of two, each pair is pushed apart as if it were
 * alone.
 */
extern const struct select_strategy select_strategy_shuffle;
extern const struct select_strategy select_strategy_fixed;

/* The order() of shuffle:  ids [select_layout_total()] */
void select_shuffle(const struct select_task *task, int64_t *ids);

/*
 * replace: each batch is a uniformly random set of samples, independent of the
 * other batches (sampling with replacement between steps, as analyses of SGD
 * assume; lib/algorithms.md 5.3).  An epoch trains each sample once on average:
 * some not at all, some twice or more.  Batch `step` is keyed by (seed, epoch,
 * step).  Expected O(b log b) for each batch.
 */
extern const struct select_strategy select_strategy_replace;

/*
 * select_replace_draw() draws one such batch, in random order.
 *   size >= b
 *   taken [size]  zero, before and after
 *   ids [b]
 */
void select_replace_draw(struct rng *rng, size_t size, size_t b,
                         unsigned char *taken, int64_t *ids);

#endif
