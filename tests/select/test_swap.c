#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "num/threads.h"
#include "select/score.h"
#include "select/strategies.h"
#include "t.h"

enum { N = 1500, B = 16, D = 16 };

static int64_t ids[N], other[N];

static struct select_task
task_of(const struct select_features *f, size_t block)
{
    struct select_task task = {.seed = 2, .epoch = 1, .features = f};
    struct err err;

    param_defaults(select_params, task.value);
    task.value[SELECT_TAU] = 0.2;
    task.value[SELECT_BLOCK] = (double)block;
    T(!select_layout_make(N, B, SELECT_KEEP, &task.layout, &err), "layout");
    return task;
}

static struct select_score
score_of(const struct select_task *task, const int64_t *order)
{
    return select_score(task->features, task->value[SELECT_TAU], &task->layout,
                        0, task->layout.steps, order);
}

/* Ten large classes: a block has enough of each. */
static void
blocks_become_harder(void)
{
    float *memory;
    struct select_features f = clusters(N, D, 10, 1, &memory);
    struct select_task task = task_of(&f, 20);
    struct select_score before, after;

    select_shuffle(&task, ids);
    before = score_of(&task, ids);
    select_strategy_swap.order(&task, ids);
    after = score_of(&task, ids);
    T(after.mean > 1.5 * before.mean && after.weight > 1.2 * before.weight,
      "mean batch loss %.3f instead of %.3f, weight %.0f of %.0f", after.mean,
      before.mean, after.weight, before.weight);
    select_shuffle(&task, other);
    select_swap_improve(&task, other);
    T(!memcmp(ids, other, sizeof ids), "it is a shuffle, improved");
    select_swap_improve(&task, other);
    T(score_of(&task, other).weight >= after.weight, "once more does no harm");
    free(memory);
}

/* 75 classes of 20: few of a class are in a block, all are somewhere. */
static void
the_whole_beats_blocks(void)
{
    float *memory;
    struct select_features f = clusters(N, D, 75, 0.5, &memory);
    struct select_task blocks = task_of(&f, 20), whole = task_of(&f, 0);
    double in_blocks, in_all;

    select_strategy_swap.order(&blocks, ids);
    in_blocks = score_of(&blocks, ids).mean;
    select_strategy_swap.order(&whole, ids);
    in_all = score_of(&whole, ids).mean;
    T(in_all > 1.2 * in_blocks, "mean batch loss %.3f, in blocks %.3f", in_all,
      in_blocks);
    free(memory);
}

/* Without a parameter the order is that of `block`. */
static void
block_by_default_is(size_t block, size_t size)
{
    float *memory;
    struct select_features f = clusters(size, D, 75, 0.5, &memory);
    int64_t *order = mem_array(2 * size, sizeof *order);
    struct select_task task = task_of(&f, block);
    struct err err;

    T(!select_layout_make(size, B, SELECT_KEEP, &task.layout, &err), "layout");
    select_strategy_swap.order(&task, order);
    task.value[SELECT_BLOCK] = select_params[SELECT_BLOCK].value;
    select_strategy_swap.order(&task, order + size);
    T(!memcmp(order, order + size, size * sizeof *order),
      "%zu samples are planned as with block=%zu", size, block);
    mem_free(memory, order);
}

static void
threads_do_not_show(size_t block)
{
    float *memory;
    struct select_features f = clusters(N, D, 75, 0.5, &memory);
    struct select_task task = task_of(&f, block);

    task.value[SELECT_HARDNESS] = 0.7;
    task.value[SELECT_REFINE] = 1;
    for (int threads = 1; threads <= 3; threads++) {
        struct err err;

        num_threads(threads);
        select_strategy_order(select_strategy_find("swap", &err), &task,
                              threads == 1 ? ids : other);
        if (threads > 1)
            T(!memcmp(ids, other, sizeof ids),
              "block %zu: %d threads do what one does", block, threads);
    }
    num_threads(1);
    free(memory);
}

static void
samples_without_features_stay(size_t block)
{
    float *memory;
    struct select_features f = clusters(N, D, 10, 1, &memory);
    struct select_task task = task_of(&f, block);
    uint8_t known[N];
    int stayed = 1, moved = 0;

    for (size_t i = 0; i < N; i++)
        known[i] = i % 4 != 0;
    for (size_t i = 0; i < N; i += 4) // of rows that hold anything at all
        memory[i * D] = NAN;
    f.known = known;
    select_shuffle(&task, other);
    select_strategy_swap.order(&task, ids);
    for (size_t i = 0; i < N; i++) {
        stayed &= known[other[i]] || ids[i] == other[i];
        moved += ids[i] != other[i];
    }
    T(stayed && moved > N / 2, "block %zu: they stay, %d others move", block,
      moved);
    free(memory);
}

/* Four samples come twice to fill the last batch, but not twice into one. */
static void
copies_do_not_meet(void)
{
    static int64_t wrapped[N + B];
    float *memory;
    struct select_features f = clusters(N, D, N / 4, 0.3, &memory);
    struct select_task task = task_of(&f, 0);
    int came[N] = {0}, wrong = 0;
    struct err err;

    T(!select_layout_make(N, B, SELECT_WRAP, &task.layout, &err) &&
          select_layout_total(&task.layout) == N + 4,
      "layout");
    select_strategy_swap.order(&task, wrapped);
    for (size_t i = 0; i < N + 4; i++) {
        came[wrapped[i]]++;
        for (size_t j = i / B * B; j < i; j++)
            wrong += wrapped[i] == wrapped[j];
    }
    for (size_t i = 0; i < N; i++)
        wrong += came[i] < 1 || came[i] > 2;
    T(!wrong, "wrap, whole: every sample, none twice in a batch");
    free(memory);
}

/* Pairs of near-duplicates, the hardest partners of all: the search itself
 * keeps them apart. */
static void
groups_are_parted(size_t block)
{
    float *memory;
    struct select_features f = clusters(N, D, N / 2, 0.1, &memory);
    struct select_task task = task_of(&f, block);
    size_t together;
    double harder;
    int64_t group[N];

    for (size_t i = 0; i < N; i++)
        group[i] = (int64_t)(i % (N / 2));
    select_strategy_swap.order(&task, ids);
    together = select_avoid_count(&task.layout, group, ids);
    task.group = group;
    select_shuffle(&task, other);
    harder = score_of(&task, other).weight;
    select_strategy_swap.order(&task, ids);
    T(together > 10 && !select_avoid_count(&task.layout, group, ids),
      "block %zu: %zu pairs come together, none when avoided", block, together);
    T(score_of(&task, ids).weight > 1.01 * harder,
      "block %zu: and the rest is still harder than a shuffle", block);
    free(memory);
}

/* The weight is what the header of soften says, for each h. */
static void
hardness_is_a_straight_line(void)
{
    float *memory;
    struct select_features f = clusters(N, D, 10, 1, &memory);
    struct select_task task = task_of(&f, 20);
    const struct select_strategy *swap = select_strategy_find("swap", NULL);
    double base = 0, most;

    select_strategy_order(swap, &task, ids);
    most = score_of(&task, ids).weight;
    for (task.epoch = 2; task.epoch < 12; task.epoch++) {
        select_shuffle(&task, other);
        base += score_of(&task, other).weight / 10;
    }
    task.epoch = 1;
    for (int h = 0; h < 4; h++) {
        task.value[SELECT_HARDNESS] = h / 4.;
        select_strategy_order(swap, &task, ids);
        T_NEAR((score_of(&task, ids).weight - base) / (most - base),
               h / 4. + (1 - h / 4.) / task.value[SELECT_BLOCK], 0.02,
               "h = %g of the way from %.0f to %.0f", h / 4., base, most);
    }
    free(memory);
}

int
main(void)
{
    num_threads(1);
    blocks_become_harder();
    the_whole_beats_blocks();
    block_by_default_is(0, 20000);
    block_by_default_is(40, 20001);
    threads_do_not_show(0);
    threads_do_not_show(7);
    samples_without_features_stay(20);
    samples_without_features_stay(0);
    copies_do_not_meet();
    groups_are_parted(20);
    groups_are_parted(0);
    hardness_is_a_straight_line();
    return t_done();
}
