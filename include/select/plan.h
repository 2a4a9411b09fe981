#pragma once

#include "select/strategy.h"

/*
 * A plan: the samples of the batch of any epoch and step.  It is a function of
 * strategy and task, so callers may ask for any step of any epoch, in any
 * order, also after a restart.  select_plan_put() sets an epoch that was
 * planned from features; any other epoch has the order of its strategy without
 * features.
 */
struct select_plan;

/* select_plan_new() copies the task, but not ->group and ->windows, which must
 * outlive the plan.  It does not use epoch and features of the task. */
struct select_plan *select_plan_new(const struct select_strategy *strategy,
                                    const struct select_task *task);
void select_plan_free(struct select_plan *plan);

/*
 * select_plan_batch() returns the ids of a batch and sets *n to their number.
 * The plan owns the ids; they are valid until the next call.
 *   epoch < 2^32, step < steps of the layout
 * The plan caches the last even and the last odd epoch (16 N bytes), because
 * callers ask for both around the end of an epoch.  A plan with windows has
 * only these, and has every epoch.
 */
const int64_t *select_plan_batch(struct select_plan *plan, uint64_t epoch,
                                 uint64_t step, size_t *n);

/* select_plan_name() returns a digest of an epoch's batches and their order, in
 * hexadecimal; owned by the plan, as above.  Two epochs have the same digest if
 * and only if each step has the same samples. */
const char *select_plan_name(struct select_plan *plan, uint64_t epoch);

/* select_plan_put() copies the order of an epoch into the plan, ids
 * [select_layout_total()]; select_plan_has() returns 1 while an epoch is
 * cached; select_plan_clear() empties the cache. */
void select_plan_put(struct select_plan *plan, uint64_t epoch,
                     const int64_t *ids);
int select_plan_has(const struct select_plan *plan, uint64_t epoch);
void select_plan_clear(struct select_plan *plan);
