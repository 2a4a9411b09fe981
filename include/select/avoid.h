#ifndef SELECT_AVOID_H
#define SELECT_AVOID_H

#include "select/strategy.h"

/*
 * select_avoid_count() returns how many pairs of samples of one group >= 0
 * share a batch.
 *   group [N]; ids [select_layout_total()]
 */
size_t select_avoid_count(const struct select_layout *layout,
                          const int64_t *group, const int64_t *ids);

/*
 * select_avoid() takes such pairs apart in an epoch that any strategy has
 * made: a sample that has one of its group beside it changes places with a
 * sample of another batch, where that leaves fewer pairs in the two and no
 * sample twice in either.  It looks through the next 256 batches for one, and
 * the epoch is gone through until nothing changes, four times at most.
 * A group of more samples than batches cannot be parted: its samples look
 * through 16 only.  Deterministic.  Returns the pairs that remain.  O(N) where
 * few are to be parted.
 */
size_t select_avoid(const struct select_layout *layout, const int64_t *group,
                    int64_t *ids);

#endif
