#ifndef SELECT_WHOLE_H
#define SELECT_WHOLE_H

#include "select/strategy.h"

/*
 * select_whole_gather() reorders an epoch so that near neighbours are together.
 * Samples without features do not move, nor with wrap the last batch, which
 * contains samples twice.
 */
void select_whole_gather(const struct select_task *task, int64_t *ids);

/*
 * select_whole_regions() orders the batches of an epoch so that each stretch of
 * `count` of them is a region of feature space, by the mean rows of batches.
 *   step [steps]  written
 */
void select_whole_regions(const struct select_task *task, unsigned round,
                          size_t count, const int64_t *ids, int64_t *step);

/* select_whole_count() returns the batches in a region: few enough to rearrange
 * quickly as a block. */
size_t select_whole_count(const struct select_layout *layout);

#endif
