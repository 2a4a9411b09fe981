#include <stdlib.h>

#include "util/mem.h"

#include "exchange.h"
#include "strategies.h"

/* Batches in a set by default, and the most exchanges that are tried for each
 * sample. */
enum { TRIES = 8 };

/* W_0 of a block; pairs that must not share a batch count as 0. */
static double
random_weight(const struct select_exchange *task)
{
    double n = (double)task->n, all = 0, pairs = 0;

    for (size_t i = 0; i < task->n * task->n; i++)
        all += task->w[i] > 0 ? task->w[i] : 0;
    for (size_t c = 0; c < task->k; c++) {
        double b = (double)(task->start[c + 1] - task->start[c]);

        pairs += b * (b - 1);
    }
    return all / 2 * pairs / (n * (n - 1));
}

static size_t
draw_place(const struct select_exchange *task, size_t c, struct rng *rng)
{
    return task->start[c] + rng_below(rng, task->start[c + 1] - task->start[c]);
}

static void
loosen_block(const struct block *block, double hardness, struct rng *rng)
{
    const struct select_exchange *task = &block->exchange;
    double weight = select_exchange_weight(task);
    double base = random_weight(task);
    double goal = base + hardness * (weight - base);

    for (size_t tries = TRIES * task->n; tries && weight > goal; tries--) {
        size_t a = rng_below(rng, task->k), c = rng_below(rng, task->k - 1);
        size_t x = draw_place(task, a, rng),
               y = draw_place(task, c += c >= a, rng);
        uint32_t i = task->item[x], j = task->item[y];
        double gain = select_exchange_gain(task, a, i, c, j);

        if (task->fixed[i] || task->fixed[j] || gain < -block->penalty / 2)
            continue;
        task->item[x] = j;
        task->item[y] = i;
        weight += gain;
    }
}

void
select_soften(const struct select_task *task, int64_t *ids)
{
    size_t steps = task->layout.steps;
    const double together = task->value[SELECT_BLOCK];
    size_t count = select_block_cut(
        &task->layout, together > 0 ? (size_t)together : SELECT_TOGETHER);
    size_t sets = (steps + count - 1) / count;
    int64_t *step = mem_array(steps, sizeof *step);
    struct rng all;

    for (size_t i = 0; i < steps; i++)
        step[i] = (int64_t)i;
    rng_init(&all, task->seed, RNG_PLAN, task->epoch, sets, STREAM_SOFTEN);
    rng_shuffle(&all, steps, step);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < sets; i++) {
        size_t from = i * steps / sets, to = (i + 1) * steps / sets;
        struct block block;
        struct rng rng;

        if (to - from < 2)
            continue;
        rng_init(&rng, task->seed, RNG_PLAN, task->epoch, i, STREAM_SOFTEN);
        select_block_init(&block, task, to - from, step + from, ids);
        loosen_block(&block, task->value[SELECT_HARDNESS], &rng);
        select_block_store(&block, task, step + from, ids);
        select_block_release(&block);
    }
    free(step);
}
