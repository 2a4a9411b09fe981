#include <stdlib.h>

#include "select/shuffle.h"
#include "util/mem.h"
#include "util/rng.h"

#include "stream.h"

void
select_shuffle(const struct select_task *task, int64_t *ids)
{
    size_t n = task->layout.size, total = select_layout_total(&task->layout);
    int64_t *order = mem_array(n, sizeof *order);
    struct rng rng;

    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, task->seed, RNG_PLAN, task->epoch, 0, STREAM_ORDER);
    rng_shuffle(&rng, n, order);
    for (size_t i = 0; i < total; i++)
        ids[i] = order[i % n];
    free(order);
}

void
select_fixed(const struct select_task *task, int64_t *ids)
{
    struct select_task first = *task;

    first.epoch = 0;
    select_shuffle(&first, ids);
}

const struct select_strategy select_strategy_shuffle = {
    .name = "shuffle",
    .summary = "a new permutation in each epoch",
    .params = select_params,
    .order = select_shuffle,
};

const struct select_strategy select_strategy_fixed = {
    .name = "fixed",
    .summary = "the same permutation in each epoch",
    .params = select_params,
    .order = select_fixed,
};
