#ifndef SELECT_PLAN_H
#define SELECT_PLAN_H

#include "select/strategy.h"

/*
 * A plan: which samples make up the batch of any epoch and step.  It is a
 * function of strategy and task, so any step of any epoch can be asked for, in
 * any order, now or after a restart.  An epoch that is planned from features is
 * planned elsewhere and put in; any other has the order of its strategy without
 * features.
 */
struct select_plan;

/* select_plan_new() copies the task, but for ->group, which must stay; epoch
 * and features of the task are not used. */
struct select_plan *select_plan_new(const struct select_strategy *strategy,
                                    const struct select_task *task);
void select_plan_free(struct select_plan *plan);

/*
 * select_plan_batch() returns the ids of a batch, their count in *n; they are
 * the plan's and good until the next call.
 *   epoch < 2^32, step < steps of the layout
 * The last two epochs asked for, or put in, are kept (16 N bytes): around the
 * end of an epoch items of both are handed out.
 */
const int64_t *select_plan_batch(struct select_plan *plan, uint64_t epoch,
                                 uint64_t step, size_t *n);

/*
 * select_plan_name() returns a digest of an epoch's batches and their order, as
 * digits; it is the plan's, as above.  Epochs have the same one just where each
 * step has the same samples.
 */
const char *select_plan_name(struct select_plan *plan, uint64_t epoch);

/*
 * select_plan_put() copies the order of an epoch into the plan, ids
 * [select_layout_total()]; select_plan_has() returns 1 while an epoch is kept;
 * select_plan_clear() forgets all.
 */
void select_plan_put(struct select_plan *plan, uint64_t epoch,
                     const int64_t *ids);
int select_plan_has(const struct select_plan *plan, uint64_t epoch);
void select_plan_clear(struct select_plan *plan);

#endif
