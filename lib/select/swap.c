#include <math.h>
#include <stdlib.h>

#include "num/vec.h"
#include "util/mem.h"

#include "exchange.h"
#include "links.h"
#include "strategies.h"

/*
 * swap: a shuffle, then exchanges of samples between batches as long as they
 * raise the weight within batches (select/exchange.h, select/score.h).
 *
 * Each block of `block` batches is rearranged by itself until no exchange of
 * two of its samples is better, with two kicks per batch.  A block of 40
 * batches of 32 takes about ten milliseconds.  A block of n samples needs 4 n^2
 * bytes per thread; blocks are cut to 4,096 samples.
 *
 * block = 0, the default for up to 20,000 samples (of more it is 40),
 * rearranges the whole data set, in memory linear in N.  In blocks, a sample
 * can share a batch only with neighbours that the shuffle puts into the same
 * block, which are few if N is large.  With block = 0 each sample gets a list
 * of near neighbours (select/links.h), samples are ordered so that linked
 * ones are together in stretches of about 1,280, and each stretch is rearranged
 * as a block.  Then rounds sort the batches by their mean features
 * (select/links.h) into other stretches and rearrange these: at most 20
 * rounds, until a round gains less than a thousandth.  O(N d log N) per round.
 *
 * Reads tau, block.  Samples without features do not move from their place in
 * the shuffle.  Blocks run in threads; the result does not depend on their
 * number.
 */

/* Kicks (exchange.h) for each batch: they add half a percent to the weight, and
 * double the time. */
enum { KICKS = 2 };

/* A region is a group of batches with similar features, rearranged as a block:
 * its samples, and its least number of batches. */
enum { REGION = 1280, BATCHES = 4 };

/* Maximum rounds, and the gain of a round, as a share of the weight, below
 * which no other follows. */
enum { ROUNDS = 20 };
static const double least_gain = 1e-3;

/* Up to so many samples are by default rearranged as a whole. */
enum { WHOLE = 20000 };

static size_t
swap_block(const struct select_task *task)
{
    const double block = task->value[SELECT_BLOCK];

    return block >= 0                   ? (size_t)block
           : task->layout.size <= WHOLE ? 0
                                        : SELECT_TOGETHER;
}

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

/* Rearranges blocks of consecutive steps of step[], whose sizes differ by at
 * most one. */
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

/* Returns the batches in a region: few enough to rearrange quickly as a
 * block. */
static size_t
batches_of_region(const struct select_layout *layout)
{
    size_t count = REGION / layout->batch;

    return select_block_cut(layout, count < BATCHES ? BATCHES : count);
}

static int
is_known(const struct select_features *features, int64_t id)
{
    return !features->known || features->known[id];
}

/* Reorders an epoch so that near neighbours are together.  Samples without
 * features do not move, nor does, with wrap, the last batch, which has repeated
 * samples. */
static void
gather_neighbours(const struct select_task *task, int64_t *ids)
{
    const struct select_layout *layout = &task->layout;
    size_t total = select_layout_total(layout), n = 0, next = 0;
    size_t leaf = batches_of_region(layout) * layout->batch;
    int64_t *point;
    uint32_t *link;

    if (layout->steps <= batches_of_region(layout))
        return; // a single block
    if (total > layout->size)
        total = select_layout_start(layout, layout->steps - 1);
    point = mem_array(total, sizeof *point);
    for (size_t i = 0; i < total; i++)
        if (is_known(task->features, ids[i]))
            point[n++] = ids[i];
    link = mem_array(n * SELECT_LINKS, sizeof *link);
    select_links_find(task->features->d, task->features->u, n, leaf, task->seed,
                      task->epoch, point, link);
    select_links_sort(n, leaf, link, point);
    free(link);
    for (size_t i = 0; i < total; i++)
        if (is_known(task->features, ids[i]))
            ids[i] = point[next++];
    free(point);
}

/* Orders the batches of an epoch so that each stretch of `count` of them is a
 * region of feature space, by the mean rows of batches.
 *   step [steps]  written */
static void
form_regions(const struct select_task *task, unsigned round, size_t count,
             const int64_t *ids, int64_t *step)
{
    const struct select_layout *layout = &task->layout;
    size_t d = task->features->d;
    float *mean = mem_array(layout->steps * d, sizeof *mean);

#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < layout->steps; c++) {
        const int64_t *id = ids + select_layout_start(layout, c);
        size_t b = select_layout_count(layout, c);

        step[c] = (int64_t)c;
        for (size_t i = 0; i < b; i++)
            if (is_known(task->features, id[i]))
                num_axpy(d, 1 / (float)b, task->features->u + (size_t)id[i] * d,
                         mean + c * d);
    }
    select_region_sort(d, mean, layout->steps, count, task->seed, task->epoch,
                       round, step);
    free(mean);
}

/* Forms regions and rearranges them, until a round gains too little; a single
 * region is formed once. */
static void
improve_whole(const struct select_task *task, int64_t *step, int64_t *ids)
{
    size_t count = batches_of_region(&task->layout);
    unsigned rounds = task->layout.steps > count ? ROUNDS : 1;
    double before, weight = -INFINITY;
    unsigned round = 0;

    do {
        before = weight;
        form_regions(task, ++round, count, ids, step);
        weight = improve_all(task, round, count, step, ids);
    } while (round < rounds && !(weight - before < least_gain * fabs(before)));
}

void
select_swap_improve(const struct select_task *task, int64_t *ids)
{
    const size_t block = swap_block(task);
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

static void
order_swap(const struct select_task *task, int64_t *ids)
{
    select_shuffle(task, ids);
    if (!swap_block(task))
        gather_neighbours(task, ids);
    select_swap_improve(task, ids);
}

const struct select_strategy select_strategy_swap = {
    .name = "swap",
    .summary = "a shuffle, then exchanges of samples for harder batches",
    .params = select_params,
    .needs_features = 1,
    .order = order_swap,
};
