#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "select/score.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

#include "exchange.h"

/* The least gain that counts, as a share of an item's average weight: less is
 * rounding, or not worth the work. */
static const double least_share = 1e-5;

/* An exchange that was made: item i of one batch, j of another. */
struct move {
    uint32_t i, j;
};

struct search {
    const struct select_exchange *task;
    float *sum;      /* [k,n] S_i(c) of all items i, batch by batch */
    float *own;      /* [n] S_i of the item's own batch */
    uint32_t *batch; /* [n] of each item */
    uint32_t *slot;  /* [n] item[slot[i]] == i */
    double least;    /* smallest gain that counts */
    double *within;  /* [k] the weight within each batch */
    uint8_t *stale;  /* [k] 1: the batch changed since within[] was computed */

    uint32_t *queue; /* [n] a ring of items to visit */
    uint8_t *queued; /* [n] */
    size_t head, waiting;

    struct move *move; /* log of exchanges, for undoing a kick */
    size_t moves, room;
};

static void
enqueue_item(struct search *s, uint32_t i)
{
    size_t n = s->task->n;

    if (s->queued[i] || (s->task->fixed && s->task->fixed[i]))
        return;
    s->queued[i] = 1;
    s->queue[(s->head + s->waiting++) % n] = i;
}

static uint32_t
dequeue_item(struct search *s)
{
    uint32_t i = s->queue[s->head];

    s->head = (s->head + 1) % s->task->n;
    s->waiting--;
    s->queued[i] = 0;
    return i;
}

/* Updates S of two batches: a += x - y, b -= x - y. */
static UTIL_CLONES(void, shift_sums,
                   (size_t n, const float *x, const float *y, float *a,
                    float *b),
                   (n, x, y, a, b))
{
    for (size_t l = 0; l < n; l++) {
        float by = x[l] - y[l];

        a[l] += by;
        b[l] -= by;
    }
}

static UTIL_CLONES(void, add_floats, (size_t n, const float *x, float *y),
                   (n, x, y))
{
    for (size_t l = 0; l < n; l++)
        y[l] += x[l];
}

/* Updates the sums of the items of a batch, and puts them into the queue. */
static void
touch_batch(struct search *s, size_t c)
{
    const struct select_exchange *task = s->task;
    const float *sum = s->sum + c * task->n;

    s->stale[c] = 1;
    for (size_t at = task->start[c]; at < task->start[c + 1]; at++) {
        s->own[task->item[at]] = sum[task->item[at]];
        enqueue_item(s, task->item[at]);
    }
}

static void
exchange_items(struct search *s, uint32_t i, uint32_t j)
{
    size_t n = s->task->n, a = s->batch[i], c = s->batch[j];
    uint32_t at = s->slot[i];

    shift_sums(n, s->task->w + j * n, s->task->w + i * n, s->sum + a * n,
               s->sum + c * n);
    s->slot[i] = s->slot[j];
    s->slot[j] = at;
    s->task->item[s->slot[i]] = i;
    s->task->item[s->slot[j]] = j;
    s->batch[i] = (uint32_t)c;
    s->batch[j] = (uint32_t)a;
    touch_batch(s, a);
    touch_batch(s, c);
}

/* Finds the best partner of item i in batch c; S_i(c) - S_i(a) is `rise`, *best
 * the gain to exceed. */
static void
find_partner(const struct search *s, uint32_t i, size_t c, float rise,
             float *best, uint32_t *partner)
{
    const struct select_exchange *task = s->task;
    const float *w = task->w + i * task->n;
    const float *there = s->sum + s->batch[i] * task->n;

    for (size_t at = task->start[c]; at < task->start[c + 1]; at++) {
        uint32_t j = task->item[at];
        float gain = rise + there[j] - s->own[j] - 2 * w[j];

        if (gain > *best && !(task->fixed && task->fixed[j])) {
            *best = gain;
            *partner = j;
        }
    }
}

static void
visit_item(struct search *s, uint32_t i)
{
    const struct select_exchange *task = s->task;
    float best = (float)s->least;
    uint32_t partner = i;

    for (size_t c = 0; c < task->k; c++) {
        float rise = s->sum[c * task->n + i] - s->own[i];

        if (rise > 0 && c != s->batch[i])
            find_partner(s, i, c, rise, &best, &partner);
    }
    // S is in f32 and accumulates rounding errors: check the gain in double
    if (partner == i ||
        select_exchange_gain(task, s->batch[i], i, s->batch[partner], partner) <
            s->least / 2)
        return;
    mem_grow(&s->move, &s->room, s->moves + 1, sizeof *s->move);
    s->move[s->moves++] = (struct move){i, partner};
    exchange_items(s, i, partner);
}

static void
settle_queue(struct search *s)
{
    while (s->waiting)
        visit_item(s, dequeue_item(s));
}

static double
weigh_batch(const struct select_exchange *task, size_t c)
{
    double weight = 0;

    for (size_t x = task->start[c]; x < task->start[c + 1]; x++)
        for (size_t y = task->start[c]; y < x; y++)
            weight += task->w[task->item[x] * task->n + task->item[y]];
    return weight;
}

/* The current W; recomputes only batches that have changed. */
static double
update_weight(struct search *s)
{
    double weight = 0;

    for (size_t c = 0; c < s->task->k; c++) {
        if (s->stale[c])
            s->within[c] = weigh_batch(s->task, c);
        s->stale[c] = 0;
        weight += s->within[c];
    }
    return weight;
}

static void
kick_batches(struct search *s, double *weight, struct rng *rng)
{
    size_t a = rng_below(rng, s->task->k), c = rng_below(rng, s->task->k - 1);
    const struct select_exchange *task = s->task;
    const size_t *start = task->start;
    double reached;

    c += c >= a;
    s->moves = 0;
    // mixes two batches: exchanges each item of a with a random one of c
    for (size_t at = start[a]; at < start[a + 1]; at++) {
        uint32_t i = task->item[at];
        uint32_t j =
            task->item[start[c] + rng_below(rng, start[c + 1] - start[c])];

        if (task->fixed && (task->fixed[i] || task->fixed[j]))
            continue;
        mem_grow(&s->move, &s->room, s->moves + 1, sizeof *s->move);
        s->move[s->moves++] = (struct move){i, j};
        exchange_items(s, i, j);
    }
    settle_queue(s);
    reached = update_weight(s);
    if (reached >= *weight) {
        *weight = reached;
        return;
    }
    while (s->moves--)
        exchange_items(s, s->move[s->moves].i, s->move[s->moves].j);
    while (s->waiting)
        dequeue_item(s);
}

double
select_exchange_gain(const struct select_exchange *task, size_t a, uint32_t i,
                     size_t c, uint32_t j)
{
    const float *wi = task->w + i * task->n, *wj = task->w + j * task->n;
    double gain = -2. * wi[j];

    for (size_t at = task->start[a]; at < task->start[a + 1]; at++)
        gain += (double)wj[task->item[at]] - wi[task->item[at]];
    for (size_t at = task->start[c]; at < task->start[c + 1]; at++)
        gain += (double)wi[task->item[at]] - wj[task->item[at]];
    return gain;
}

double
select_exchange_weight(const struct select_exchange *task)
{
    double weight = 0;

    for (size_t c = 0; c < task->k; c++)
        weight += weigh_batch(task, c);
    return weight;
}

double
select_exchange_run(const struct select_exchange *task, struct rng *rng)
{
    double weight = select_exchange_weight(task);
    struct search s = {.task = task};
    size_t n = task->n;

    REQUIRE(n >= 1 && n < UINT32_MAX && task->k >= 1);
    REQUIRE(task->start[task->k] == n);
    if (task->k == 1)
        return weight;
    s.sum = mem_aligned(task->k * n, sizeof *s.sum);
    s.own = mem_array(n, sizeof *s.own);
    s.within = mem_array(task->k, sizeof *s.within);
    s.stale = mem_array(task->k, sizeof *s.stale);
    s.batch = mem_array(n, sizeof *s.batch);
    s.slot = mem_array(n, sizeof *s.slot);
    s.queue = mem_array(n, sizeof *s.queue);
    s.queued = mem_array(n, sizeof *s.queued);
    s.least = least_share * 2 * (weight > 0 ? weight : 1) / (double)n;
    for (size_t c = 0; c < task->k; c++)
        for (size_t at = task->start[c]; at < task->start[c + 1]; at++) {
            uint32_t i = task->item[at];

            s.batch[i] = (uint32_t)c;
            s.slot[i] = (uint32_t)at;
            add_floats(n, task->w + i * n, s.sum + c * n);
        }
    for (size_t c = 0; c < task->k; c++)
        touch_batch(&s, c);
    settle_queue(&s);
    weight = update_weight(&s);
    for (size_t i = 0; i < task->kicks; i++)
        kick_batches(&s, &weight, rng);
    mem_free(s.sum, s.own, s.within, s.stale, s.batch, s.slot, s.queue,
             s.queued, s.move);
    return weight;
}

/* ---- blocks -------------------------------------------------------------- */

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

/* An exchange moves two items, each with less weight than a batch full of the
 * largest weight; a penalty is four times that.  The penalty of a sample that
 * is twice in a batch exceeds all others. */
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
    // samples without features have no weight, whatever their rows contain
    for (size_t i = 0; task->features->known && i < n; i++) {
        block->exchange.fixed[i] = !task->features->known[block->id[i]];
        for (size_t j = 0; block->exchange.fixed[i] && j < n; j++)
            block->exchange.w[i * n + j] = block->exchange.w[j * n + i] = 0;
    }
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
    mem_free(block->id, block->exchange.start, block->exchange.w,
             block->exchange.fixed, block->exchange.item);
}
