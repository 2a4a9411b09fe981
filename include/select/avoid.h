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
 * sample twice in either.  It looks through the next 256 batches for one; so
 * in up to 257 batches none remains that a single exchange could part.
 * Deterministic.  Returns the pairs that remain.  O(N) where few are to be
 * parted, O(256 N) where that cannot be helped.
 */
size_t select_avoid(const struct select_layout *layout, const int64_t *group,
                    int64_t *ids);

#endif
