#include <stdlib.h>
#include <string.h>

#include "select/windows.h"
#include "util/digest.h"
#include "util/err.h"
#include "util/mem.h"

#include "strategies.h"

enum { OPEN_WINDOWS = 3 };

/* An epoch: its permutation of shards, and where its windows begin. */
struct shard_order {
    uint64_t number;
    int64_t *shard;  /* [shards] in their order; or NULL */
    uint64_t *start; /* [windows + 1] places of the first samples */
};

struct window {
    uint64_t epoch;
    size_t number;
    int64_t *ids; /* [size] in their order */
    size_t size, room;
};

struct select_windows {
    size_t shards, each, windows;
    uint64_t seed, *first;
    struct shard_order epoch[2]; // the last even one, and the last odd one
    struct window open[OPEN_WINDOWS];
    size_t opened; // so far
};

struct select_windows *
select_windows_new(size_t shards, const uint64_t *first, size_t each,
                   uint64_t seed)
{
    struct select_windows *windows = mem_array(1, sizeof *windows);
    const size_t bytes = (shards + 1) * sizeof *first;

    REQUIRE(shards && each && !first[0]);
    windows->shards = shards;
    windows->each = each;
    windows->windows = (shards + each - 1) / each;
    windows->seed = seed;
    windows->first = memcpy(mem_array(shards + 1, sizeof *first), first, bytes);
    return windows;
}

void
select_windows_free(struct select_windows *windows)
{
    if (!windows)
        return;
    for (size_t i = 0; i < 2; i++) {
        mem_free(windows->epoch[i].shard, windows->epoch[i].start);
    }
    for (size_t i = 0; i < OPEN_WINDOWS; i++)
        free(windows->open[i].ids);
    mem_free(windows->first, windows);
}

static uint64_t
size_of_shard(const struct select_windows *windows, int64_t shard)
{
    return windows->first[shard + 1] - windows->first[shard];
}

static const struct shard_order *
open_epoch(struct select_windows *windows, uint64_t number)
{
    struct shard_order *epoch = &windows->epoch[number % 2];
    struct rng rng;

    if (epoch->shard && epoch->number == number)
        return epoch;
    if (!epoch->shard) {
        epoch->shard = mem_array(windows->shards, sizeof *epoch->shard);
        epoch->start = mem_array(windows->windows + 1, sizeof *epoch->start);
    }
    epoch->number = number;
    rng_init(&rng, windows->seed, RNG_PLAN, number, 0, STREAM_SHARDS);
    for (size_t i = 0; i < windows->shards; i++)
        epoch->shard[i] = (int64_t)i;
    rng_shuffle(&rng, windows->shards, epoch->shard);
    for (size_t i = 0, at = 0; i < windows->shards; i++) {
        if (i % windows->each == 0)
            epoch->start[i / windows->each] = at;
        at += size_of_shard(windows, epoch->shard[i]);
    }
    epoch->start[windows->windows] = windows->first[windows->shards];
    return epoch;
}

static const struct window *
open_window(struct select_windows *windows, const struct shard_order *epoch,
            size_t number)
{
    struct window *window;
    const size_t from = number * windows->each, rest = windows->shards - from,
                 n = rest < windows->each ? rest : windows->each;
    struct rng rng;

    for (size_t i = 0; i < OPEN_WINDOWS; i++) {
        window = &windows->open[i];
        if (window->size && window->epoch == epoch->number &&
            window->number == number)
            return window;
    }
    window = &windows->open[windows->opened++ % OPEN_WINDOWS];
    window->epoch = epoch->number;
    window->number = number;
    window->size = epoch->start[number + 1] - epoch->start[number];
    mem_grow(&window->ids, &window->room, window->size, sizeof *window->ids);
    for (size_t i = 0, at = 0; i < n; i++) {
        const int64_t shard = epoch->shard[from + i];

        for (uint64_t k = 0; k < size_of_shard(windows, shard); k++)
            window->ids[at++] = (int64_t)(windows->first[shard] + k);
    }
    rng_init(&rng, windows->seed, RNG_PLAN, epoch->number, number,
             STREAM_WINDOW);
    rng_shuffle(&rng, window->size, window->ids);
    return window;
}

/* Returns the last of n ascending numbers that is not above x; the first is
 * 0. */
static size_t
find_last(size_t n, const uint64_t *number, uint64_t x)
{
    size_t low = 0, high = n;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (number[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void
select_windows_ids(struct select_windows *windows, uint64_t epoch, uint64_t at,
                   size_t n, int64_t *ids)
{
    const struct shard_order *order = open_epoch(windows, epoch);
    const uint64_t size = windows->first[windows->shards];

    while (n) {
        const struct window *window = open_window(
            windows, order, find_last(windows->windows, order->start, at));
        const size_t skip = at - order->start[window->number];
        const size_t left = window->size - skip, some = n < left ? n : left;

        memcpy(ids, window->ids + skip, some * sizeof *ids);
        ids += some;
        n -= some;
        at = (at + some) % size;
    }
}

size_t
select_windows_near(struct select_windows *windows, uint64_t epoch,
                    uint64_t next, uint64_t at, size_t *shard)
{
    const struct shard_order *order = open_epoch(windows, epoch);
    const size_t each = windows->each,
                 of = find_last(windows->windows, order->start, at);
    size_t n = 0;

    for (size_t i = of * each; i < windows->shards && n < 2 * each; i++)
        shard[n++] = (size_t)order->shard[i];
    if (of + 1 < windows->windows)
        return n;
    order = open_epoch(windows, next);
    for (size_t i = 0; i < windows->shards && i < each; i++)
        shard[n++] = (size_t)order->shard[i];
    return n;
}

static int
compare_shards(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

double
select_windows_same_shard(const struct select_windows *windows, size_t n,
                          const int64_t *ids)
{
    size_t *shard = mem_array(n, sizeof *shard);
    double pairs = 0, run = 0;

    for (size_t i = 0; i < n; i++)
        shard[i] = find_last(windows->shards, windows->first, (uint64_t)ids[i]);
    qsort(shard, n, sizeof *shard, compare_shards);
    for (size_t i = 1; i < n; i++) {
        run = shard[i] == shard[i - 1] ? run + 1 : 0;
        pairs += run;
    }
    free(shard);
    return 2 * pairs / ((double)n * (double)(n - 1));
}

void
select_windows_digest(const struct select_windows *windows, uint64_t epoch,
                      struct digest_stream *stream)
{
    const uint64_t form[] = {windows->shards, windows->each, windows->seed,
                             epoch};

    digest_add(stream, form, sizeof form);
    digest_add(stream, windows->first,
               (windows->shards + 1) * sizeof *windows->first);
}
