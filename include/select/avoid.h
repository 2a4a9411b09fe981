#ifndef SELECT_AVOID_H
#define SELECT_AVOID_H

#include "select/strategy.h"

/*
 * select_avoid_count() returns how many pairs of samples of one group share a
 * batch.
 *   group [N] of each sample; < 0: none
 *   ids [select_layout_total()]
 */
size_t select_avoid_count(const struct select_layout *layout,
                          const int64_t *group, const int64_t *ids);

/*
 * select_avoid() separates such pairs in an epoch of any strategy.  A sample
 * that shares its batch with another of its group is exchanged with a sample of
 * another batch, if that leaves fewer pairs in the two batches and no duplicate
 * in either.  The next 256 batches are searched.  Passes over the epoch end
 * when nothing changes, after four at most.  A group of more samples than
 * batches cannot be separated: only 16 batches are searched for its samples.
 * Deterministic.  Returns the number of pairs left.  O(N) if few pairs must be
 * separated.
 */
size_t select_avoid(const struct select_layout *layout, const int64_t *group,
                    int64_t *ids);

#endif
