#include <stdlib.h>

#include "block.h"
#include "select/shuffle.h"
#include "select/swap.h"
#include "stream.h"
#include "util/mem.h"

/* Kicks per batch: worth half a percent of the weight, and as much time as the
 * search before them. */
enum { KICKS = 2 };

/* Rearranges k batches; returns the weight within them. */
static double
improve(const struct select_task *task, uint64_t number, size_t k,
        const int64_t *step, int64_t *ids)
{
    struct block block;
    struct rng rng;
    double weight;

    rng_init(&rng, task->seed, RNG_PLAN, task->epoch, number, STREAM_SWAP);
    block_init(&block, task, k, step, ids);
    block.exchange.kicks = KICKS * k;
    weight = select_exchange_run(&block.exchange, &rng);
    block_store(&block, task, step, ids);
    block_release(&block);
    return weight;
}

void
select_swap_improve(const struct select_task *task, int64_t *ids)
{
    size_t steps = task->layout.steps;
    size_t count = task->param.block ? task->param.block : steps;
    size_t blocks = (steps + count - 1) / count;
    int64_t *step = mem_array(steps, sizeof *step);

    for (size_t i = 0; i < steps; i++)
        step[i] = (int64_t)i;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < blocks; i++) {
        size_t from = i * steps / blocks, to = (i + 1) * steps / blocks;

        improve(task, i, to - from, step + from, ids);
    }
    free(step);
}

void
select_swap(const struct select_task *task, int64_t *ids)
{
    select_shuffle(task, ids);
    select_swap_improve(task, ids);
}
