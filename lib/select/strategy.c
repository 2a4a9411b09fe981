#include <string.h>

#include "strategies.h"

#define POINT_AT(row) &select_strategy_##row,
const struct select_strategy *const select_strategies[] = {
    SELECT_STRATEGIES(POINT_AT) NULL};

static const char *
name_strategy(size_t i)
{
    return select_strategies[i] ? select_strategies[i]->name : NULL;
}

const struct select_strategy *
select_strategy_find(const char *name, struct err *err)
{
    for (size_t i = 0; select_strategies[i]; i++)
        if (!strcmp(select_strategies[i]->name, name))
            return select_strategies[i];
    err_name(err, "strategy", name, strlen(name), name_strategy);
    return NULL;
}

int
select_strategy_fit(const struct select_strategy *strategy,
                    struct select_layout *layout, const double *value,
                    struct err *err)
{
    if (param_check(strategy->params, value, err))
        return -1;
    return strategy->fit ? strategy->fit(layout, value, err) : 0;
}

void
select_strategy_order(const struct select_strategy *strategy,
                      const struct select_task *task, int64_t *ids)
{
    if (strategy->needs_features && !task->features)
        select_shuffle(task, ids);
    else
        strategy->order(task, ids);
    select_strategy_finish(strategy, task, ids);
}

void
select_strategy_finish(const struct select_strategy *strategy,
                       const struct select_task *task, int64_t *ids)
{
    if (task->features) {
        if (task->value[SELECT_REFINE])
            select_swap_improve(task, ids);
        if (task->value[SELECT_HARDNESS] < 1 &&
            (strategy->needs_features || task->value[SELECT_REFINE]))
            select_soften(task, ids);
    }
    if (task->group)
        select_avoid(&task->layout, task->group, ids);
}
