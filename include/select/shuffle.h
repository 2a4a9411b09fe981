#ifndef SELECT_SHUFFLE_H
#define SELECT_SHUFFLE_H

#include "select/strategy.h"

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

/* Their order():  ids [select_layout_total()] */
void select_shuffle(const struct select_task *task, int64_t *ids);
void select_fixed(const struct select_task *task, int64_t *ids);

#endif
