#ifndef SELECT_WHOLE_H
#define SELECT_WHOLE_H

#include "select/strategy.h"

/*
 * select_whole_gather() brings samples that are near neighbours together in an
 * epoch, and leaves those without where they are.  Under wrap the last batch,
 * where samples come again, stays.
 */
void select_whole_gather(const struct select_task *task, int64_t *ids);

/*
 * select_whole_regions() orders the batches of an epoch so that each stretch of
 * `count` of them is a region of feature space, by the mean rows of batches.
 *   step [steps]  written
 */
void select_whole_regions(const struct select_task *task, unsigned round,
                          size_t count, const int64_t *ids, int64_t *step);

/* select_whole_count() returns how many batches make a region: what is quickly
 * rearranged as a block. */
size_t select_whole_count(const struct select_layout *layout);

#endif
