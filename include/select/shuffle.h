#ifndef SELECT_SHUFFLE_H
#define SELECT_SHUFFLE_H

#include "select/strategy.h"

/*
 * shuffle: a uniformly random permutation of all samples in each epoch, cut
 * into batches in order (sampling without replacement; algorithms.md 4.5).
 * Its random numbers are keyed by (seed, epoch).  Under wrap the last batch
 * is filled up from the head of the permutation.  O(N).
 */
void select_shuffle(const struct select_task *task, int64_t *ids);

#endif
