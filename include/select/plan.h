#ifndef SELECT_PLAN_H
#define SELECT_PLAN_H

#include "select/strategy.h"

/*
 * A plan: which samples make up the batch of any epoch and step.  It is a
 * function of strategy, layout and seed, so any step of any epoch can be asked
 * for, in any order, now or after a restart.
 */
struct select_plan;

struct select_plan *select_plan_new(const struct select_strategy *strategy,
                                    const struct select_layout *layout,
                                    uint64_t seed);
void select_plan_free(struct select_plan *plan);

/*
 * select_plan_batch() returns the ids of a batch, their count in *n; they are
 * the plan's and good until the next call.
 *   epoch < 2^32, step < steps of the layout
 * The last two epochs asked for are kept (16 N bytes): around the end of an
 * epoch items of both are handed out.
 */
const int64_t *select_plan_batch(struct select_plan *plan, uint64_t epoch,
                                 uint64_t step, size_t *n);

#endif
