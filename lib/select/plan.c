#include <stdlib.h>

#include "select/plan.h"
#include "util/mem.h"

struct select_plan {
    const struct select_strategy *strategy;
    struct select_task task;

    /* even epochs in the first, odd ones in the second */
    struct {
        int64_t *ids;
        uint64_t epoch;
        int filled;
    } kept[2];
};

struct select_plan *
select_plan_new(const struct select_strategy *strategy,
                const struct select_layout *layout, uint64_t seed)
{
    struct select_plan *plan = mem_array(1, sizeof *plan);
    size_t total = select_layout_total(layout);

    plan->strategy = strategy;
    plan->task = (struct select_task){.layout = *layout, .seed = seed};
    for (int i = 0; i < 2; i++)
        plan->kept[i].ids = mem_array(total, sizeof *plan->kept[i].ids);
    return plan;
}

void
select_plan_free(struct select_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < 2; i++)
        free(plan->kept[i].ids);
    free(plan);
}

const int64_t *
select_plan_batch(struct select_plan *plan, uint64_t epoch, uint64_t step,
                  size_t *n)
{
    int slot = (int)(epoch % 2);
    int64_t *ids = plan->kept[slot].ids;

    *n = select_layout_count(&plan->task.layout, step);
    if (!plan->kept[slot].filled || plan->kept[slot].epoch != epoch) {
        plan->task.epoch = epoch;
        select_strategy_order(plan->strategy, &plan->task, ids);
        plan->kept[slot].epoch = epoch;
        plan->kept[slot].filled = 1;
    }
    return ids + select_layout_start(&plan->task.layout, step);
}
