#include <math.h>
#include <stdlib.h>

#include "select/shuffle.h"
#include "util/mem.h"

#include "block.h"
#include "stream.h"
#include "swap.h"
#include "whole.h"

/* Kicks per batch: they add half a percent to the weight, and double the time.
 */
enum { KICKS = 2 };

/* Most rounds of forming regions, and the least gain of a round, as a share of
 * the weight, for another. */
enum { ROUNDS = 20 };
static const double least_gain = 1e-3;

/* Rearranges k batches; returns the weight within them. */
static double
improve_batches(const struct select_task *task, uint64_t number, size_t k,
                const int64_t *step, int64_t *ids)
{
    struct block block;
    struct rng rng;
    double weight;

    rng_init(&rng, task->seed, RNG_PLAN, task->epoch, number, STREAM_SWAP);
    select_block_init(&block, task, k, step, ids);
    block.exchange.kicks = KICKS * k;
    weight = select_exchange_run(&block.exchange, &rng);
    select_block_store(&block, task, step, ids);
    select_block_release(&block);
    return weight;
}

/* Rearranges blocks of consecutive steps of step[], of equal size up to one. */
static double
improve_all(const struct select_task *task, unsigned round, size_t count,
            const int64_t *step, int64_t *ids)
{
    size_t steps = task->layout.steps, blocks = (steps + count - 1) / count;
    double *weight = mem_array(blocks, sizeof *weight), sum = 0;

#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < blocks; i++) {
        size_t from = i * steps / blocks, to = (i + 1) * steps / blocks;

        weight[i] = improve_batches(task, (uint64_t)round << 24 | i, to - from,
                                    step + from, ids);
    }
    for (size_t i = 0; i < blocks; i++)
        sum += weight[i];
    free(weight);
    return sum;
}

/* Forms regions and rearranges them, until a round gains too little; a single
 * region is formed once. */
static void
improve_whole(const struct select_task *task, int64_t *step, int64_t *ids)
{
    size_t count = select_whole_count(&task->layout);
    unsigned rounds = task->layout.steps > count ? ROUNDS : 1;
    double before, weight = -INFINITY;
    unsigned round = 0;

    do {
        before = weight;
        select_whole_regions(task, ++round, count, ids, step);
        weight = improve_all(task, round, count, step, ids);
    } while (round < rounds && !(weight - before < least_gain * fabs(before)));
}

void
select_swap_improve(const struct select_task *task, int64_t *ids)
{
    const size_t block = (size_t)task->value[SELECT_BLOCK];
    size_t steps = task->layout.steps;
    int64_t *step = mem_array(steps, sizeof *step);

    for (size_t i = 0; i < steps; i++)
        step[i] = (int64_t)i;
    if (block)
        improve_all(task, 0, select_block_cut(&task->layout, block), step, ids);
    else
        improve_whole(task, step, ids);
    free(step);
}

void
select_swap(const struct select_task *task, int64_t *ids)
{
    select_shuffle(task, ids);
    if (!task->value[SELECT_BLOCK])
        select_whole_gather(task, ids);
    select_swap_improve(task, ids);
}

const struct select_strategy select_strategy_swap = {
    .name = "swap",
    .summary = "a shuffle, then exchanges of samples for harder batches",
    .params = select_params,
    .needs_features = 1,
    .order = select_swap,
};
