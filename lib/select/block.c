#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "select/score.h"
#include "util/mem.h"

#include "block.h"

enum { SAMPLES = 4096 };

/* Items with the same key must not share a batch. */
struct tag {
    int64_t key;
    uint32_t item;
};

static int
compare_tags(const void *a, const void *b)
{
    const struct tag *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Subtracts the penalty from the weight of each pair with a common key. */
static void
penalise_pairs(size_t n, struct tag *tag, size_t tags, float penalty, float *w)
{
    qsort(tag, tags, sizeof *tag, compare_tags);
    for (size_t i = 0; i < tags; i++)
        for (size_t j = i; j-- && tag[j].key == tag[i].key;) {
            w[tag[i].item * n + tag[j].item] -= penalty;
            w[tag[j].item * n + tag[i].item] -= penalty;
        }
}

/*
 * An exchange moves two items, each with less weight than a batch full of the
 * largest weight; a penalty is four times that.  The penalty of a sample that
 * is twice in a batch exceeds all others.
 */
static void
forbid_pairs(struct block *block, const struct select_task *task)
{
    const size_t n = block->exchange.n, b = task->layout.batch + 1;
    struct tag *tag = mem_array(n, sizeof *tag);
    const float most = num_max(n * n, block->exchange.w);
    size_t tags = 0;

    block->penalty = 4 * (double)b * most + 1;

    for (size_t i = 0; task->group && i < n; i++)
        if (task->group[block->id[i]] >= 0)
            tag[tags++] = (struct tag){task->group[block->id[i]], (uint32_t)i};
    penalise_pairs(n, tag, tags, (float)block->penalty, block->exchange.w);
    for (size_t i = 0; i < n; i++)
        tag[i] = (struct tag){block->id[i], (uint32_t)i};
    penalise_pairs(n, tag, n, (float)(2 * (double)b * block->penalty),
                   block->exchange.w);
    free(tag);
}

/* Samples without features have no weight, whatever their rows contain. */
static void
clear_unknown(struct block *block, const uint8_t *known)
{
    const size_t n = block->exchange.n;

    for (size_t i = 0; i < n; i++) {
        block->exchange.fixed[i] = !known[block->id[i]];
        for (size_t j = 0; block->exchange.fixed[i] && j < n; j++)
            block->exchange.w[i * n + j] = block->exchange.w[j * n + i] = 0;
    }
}

size_t
select_block_cut(const struct select_layout *layout, size_t count)
{
    size_t most = SAMPLES / layout->batch;

    most = most < 2 ? 2 : most;
    return count < most ? count : most;
}

void
select_block_init(struct block *block, const struct select_task *task, size_t k,
                  const int64_t *step, const int64_t *ids)
{
    const struct select_layout *layout = &task->layout;
    size_t *start = mem_array(k + 1, sizeof *start), n = 0;

    REQUIRE(task->features);
    for (size_t c = 0; c < k; c++)
        start[c + 1] = n += select_layout_count(layout, (size_t)step[c]);
    block->id = mem_array(n, sizeof *block->id);
    block->exchange = (struct select_exchange){
        .n = n,
        .k = k,
        .w = mem_unset(n * n, sizeof(float)),
        .fixed = mem_array(n, sizeof(uint8_t)),
        .start = start,
        .item = mem_array(n, sizeof(uint32_t)),
    };
    for (size_t c = 0; c < k; c++)
        memcpy(block->id + start[c],
               ids + select_layout_start(layout, (size_t)step[c]),
               (start[c + 1] - start[c]) * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        block->exchange.item[i] = (uint32_t)i;
    select_affinity(task->features, task->value[SELECT_TAU],
                    layout->batch + (layout->larger > 0), n, block->id,
                    block->exchange.w);
    if (task->features->known)
        clear_unknown(block, task->features->known);
    forbid_pairs(block, task);
}

void
select_block_store(const struct block *block, const struct select_task *task,
                   const int64_t *step, int64_t *ids)
{
    const struct select_exchange *e = &block->exchange;

    for (size_t c = 0; c < e->k; c++) {
        int64_t *id = ids + select_layout_start(&task->layout, (size_t)step[c]);

        for (size_t at = e->start[c]; at < e->start[c + 1]; at++)
            *id++ = block->id[e->item[at]];
    }
}

void
select_block_release(struct block *block)
{
    free(block->id);
    free(block->exchange.start);
    free(block->exchange.w);
    free(block->exchange.fixed);
    free(block->exchange.item);
}
