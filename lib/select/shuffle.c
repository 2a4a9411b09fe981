#include <stdlib.h>

#include "util/mem.h"

#include "strategies.h"

/*
 * shuffle: a uniformly random permutation of all samples in each epoch, cut
 * into batches in order (sampling without replacement; lib/algorithms.md 5.3).
 * Its random numbers are keyed by (seed, epoch).  With wrap the last batch is
 * filled from the start of the permutation.  O(N).
 *
 * fixed: the permutation of epoch 0 in every epoch.  Samples of different
 * batches are never contrasted, so training does not minimise the loss of the
 * whole data set: with batches of two, each pair is pushed apart as if it were
 * alone.
 */

const struct param select_params[] = {SELECT_PARAMS, {0}};

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

static void
order_fixed(const struct select_task *task, int64_t *ids)
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
    .order = order_fixed,
};

void
select_replace_draw(struct rng *rng, size_t size, size_t b,
                    unsigned char *taken, int64_t *ids)
{
    for (size_t i = 0; i < b;) {
        size_t id = rng_below(rng, size);

        if (taken[id])
            continue;
        taken[id] = 1;
        ids[i++] = (int64_t)id;
    }
    for (size_t i = 0; i < b; i++)
        taken[ids[i]] = 0;
}

/*
 * replace: each batch is a uniformly random set of samples, independent of the
 * other batches (sampling with replacement between steps, as analyses of SGD
 * assume; lib/algorithms.md 5.3).  An epoch trains each sample once on average:
 * some not at all, some twice or more.  Batch `step` is keyed by (seed, epoch,
 * step).  Expected O(b log b) for each batch.
 */
static void
order_replace(const struct select_task *task, int64_t *ids)
{
    const struct select_layout *layout = &task->layout;
    unsigned char *taken = mem_array(layout->size, 1);

    for (size_t step = 0; step < layout->steps; step++) {
        struct rng rng;

        rng_init(&rng, task->seed, RNG_PLAN, task->epoch, step, STREAM_ORDER);
        select_replace_draw(&rng, layout->size,
                            select_layout_count(layout, step), taken,
                            ids + select_layout_start(layout, step));
    }
    free(taken);
}

const struct select_strategy select_strategy_replace = {
    .name = "replace",
    .summary = "each batch drawn independently",
    .params = select_params,
    .partial = 1,
    .order = order_replace,
};
