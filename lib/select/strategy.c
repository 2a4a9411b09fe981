#include <string.h>

#include "select/avoid.h"
#include "select/shuffle.h"
#include "select/strategy.h"

#include "osgd.h"
#include "replace.h"
#include "soften.h"
#include "spectral.h"
#include "swap.h"

static const struct select_strategy table[] = {
    {.name = "shuffle",
     .help = "a new permutation in each epoch",
     .order = select_shuffle},
    {.name = "replace",
     .help = "each batch drawn by itself, with replacement",
     .order = select_replace},
    {.name = "fixed",
     .help = "the same permutation in each epoch",
     .order = select_fixed},
    {.name = "osgd",
     .help = "the hardest of several random batches",
     .wants_features = 1,
     .fit = select_osgd_fit,
     .order = select_osgd},
    {.name = "osgd-full",
     .help = "the hardest of all batches that there are",
     .wants_features = 1,
     .fit = select_osgd_full_fit,
     .order = select_osgd_full},
    {.name = "spectral",
     .help = "clusters of samples that are hard to tell apart",
     .wants_features = 1,
     .fit = select_spectral_fit,
     .order = select_spectral},
    {.name = "swap",
     .help = "a shuffle whose samples change places for harder batches",
     .wants_features = 1,
     .order = select_swap},
};

enum { COUNT = sizeof table / sizeof *table };

const struct select_strategy *
select_strategy_find(const char *name, struct err *err)
{
    char names[256] = "";

    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(table[i].name, name))
            return &table[i];
        strncat(names, " ", sizeof names - strlen(names) - 1);
        strncat(names, table[i].name, sizeof names - strlen(names) - 1);
    }
    err_set(err, "no strategy '%s': there are%s", name, names);
    return NULL;
}

const struct select_strategy *
select_strategy_at(size_t i)
{
    return i < COUNT ? &table[i] : NULL;
}

struct select_param
select_param_default(void)
{
    return (struct select_param){
        .tau = 0.5,
        .variant = SELECT_NJW,
        .block = 40,
        .restarts = 5,
        .draws = 10,
        .keep = 1,
        .hardness = 1,
    };
}

int
select_strategy_fit(const struct select_strategy *strategy,
                    struct select_layout *layout,
                    const struct select_param *param, struct err *err)
{
    return strategy->fit ? strategy->fit(layout, param, err) : 0;
}

void
select_strategy_order(const struct select_strategy *strategy,
                      const struct select_task *task, int64_t *ids)
{
    if (strategy->wants_features && !task->features)
        select_shuffle(task, ids);
    else
        strategy->order(task, ids);
    if (task->features) {
        if (task->param.refine)
            select_swap_improve(task, ids);
        if (task->param.hardness < 1 &&
            (strategy->wants_features || task->param.refine))
            select_soften(task, ids);
    }
    if (task->group)
        select_avoid(&task->layout, task->group, ids);
}
