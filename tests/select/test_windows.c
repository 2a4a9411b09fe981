/* Epochs by windows of shards. */
#include <math.h>
#include <string.h>

#include "permutation.h"
#include "select/plan.h"
#include "select/windows.h"
#include "t.h"
#include "util/rng.h"

enum { SHARDS = 37, EACH = 5, WINDOWS = 8 };

static uint64_t first[SHARDS + 1]; // of shards of 1 to 9 samples

static size_t
shard_of(int64_t id)
{
    size_t i = 0;

    while (first[i + 1] <= (uint64_t)id)
        i++;
    return i;
}

/* Returns how many windows an epoch has: after all samples of K new shards the
 * next begins.  0 if more shards are mixed, or if one comes back. */
static size_t
count_windows(size_t n, const int64_t *ids)
{
    size_t seen[SHARDS] = {0}, shards = 0, left = 0, windows = 0;

    for (size_t i = 0; i < n; i++) {
        const size_t shard = shard_of(ids[i]);

        if (!seen[shard]++) {
            shards++;
            left += first[shard + 1] - first[shard];
        }
        if (!left-- || shards > EACH)
            return 0;
        if (!left && (shards == EACH || i + 1 == n)) {
            windows++;
            shards = 0;
        }
    }
    return windows;
}

/* Each epoch has each sample once, those of a window together. */
static void
epochs_are_permutations(void)
{
    const size_t n = first[SHARDS];
    struct select_windows *windows =
        select_windows_new(SHARDS, first, EACH, 11);
    int64_t *ids = mem_array(n, sizeof *ids), *last = mem_array(n, sizeof *ids);
    size_t whole = 0, found = 0, moved = 0;

    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        select_windows_ids(windows, epoch, 0, n, ids);
        whole += (size_t)is_permutation(n, ids);
        found += count_windows(n, ids);
        for (size_t i = 0; i < n; i++)
            moved += ids[i] != last[i];
        memcpy(last, ids, n * sizeof *ids);
    }
    T(whole == 20, "20 epochs are permutations");
    T(found == 20 * WINDOWS, "of 8 windows each, of 5 shards: %zu", found);
    T(moved > 19 * n, "epochs differ: %zu of %zu places", moved, 20 * n);
    free(ids);
    free(last);
    select_windows_free(windows);
}

/* Any part of any epoch, in any order, is that of the whole. */
static void
any_part_is_the_same(void)
{
    const size_t n = first[SHARDS];
    struct select_windows *windows = select_windows_new(SHARDS, first, EACH, 3);
    struct select_windows *other = select_windows_new(SHARDS, first, EACH, 4);
    int64_t *ids = mem_array(7 * n, sizeof *ids), part[50];
    size_t same = 0, equal = 0;
    struct rng rng;

    for (uint64_t epoch = 0; epoch < 7; epoch++)
        select_windows_ids(windows, epoch, 0, n, ids + epoch * n);
    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 3000; i++) {
        const size_t epoch = rng_below(&rng, 7), at = rng_below(&rng, n),
                     size = 1 + rng_below(&rng, 50);
        size_t right = 0;

        select_windows_ids(windows, epoch, at, size, part);
        for (size_t k = 0; k < size; k++)
            right += part[k] == ids[epoch * n + (at + k) % n];
        same += right == size;
        select_windows_ids(other, epoch, at, 1, part);
        equal += part[0] == ids[epoch * n + at];
    }
    T(same == 3000, "any part at any time, and over the end: %zu", same);
    T(equal < 3000 / 20, "another seed has another order");
    free(ids);
    select_windows_free(windows);
    select_windows_free(other);
}

/* Shards of one sample: each is at each place equally often. */
static void
shards_are_permuted_uniformly(void)
{
    enum { M = 11, EPOCHS = 11000 };
    uint64_t one[M + 1];
    size_t count[M][M] = {{0}}, pair = 0;
    double most = 0;
    struct select_windows *windows;

    for (size_t i = 0; i <= M; i++)
        one[i] = i;
    windows = select_windows_new(M, one, 1, 1);
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        int64_t ids[M];

        select_windows_ids(windows, epoch, 0, M, ids);
        for (size_t i = 0; i < M; i++)
            count[i][ids[i]]++;
        pair += ids[1] == ids[0] + 1;
    }
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < M; k++)
            most = fmax(most, fabs((double)count[i][k] - EPOCHS / M) /
                                  sqrt((double)EPOCHS / M * (1 - 1.0 / M)));
    T(most < 4.5, "at most %.2f deviations from the mean", most);
    T(fabs((double)pair - EPOCHS / M) < 4.5 * sqrt(EPOCHS / M),
      "neighbours are as rare as by chance: %zu", pair);
    select_windows_free(windows);
}

static void
few_pairs_are_of_one_shard(void)
{
    enum { M = 64, K = 8, SIZE = 100, B = 400 };
    uint64_t start[M + 1];
    struct select_windows *windows;
    double share = 0;
    int64_t ids[B];

    for (size_t i = 0; i <= M; i++)
        start[i] = SIZE * i;
    windows = select_windows_new(M, start, K, 1);
    for (size_t at = 0; at < SIZE * M; at += B) {
        select_windows_ids(windows, 2, at, B, ids);
        share += select_windows_same_shard(windows, B, ids);
    }
    share /= (double)SIZE * M / B;
    T(fabs(share - (SIZE - 1.0) / (SIZE * K - 1.0)) < .001,
      "as many as in a random batch of a window: %.4f", share);
    for (int64_t i = 0; i < 4; i++)
        ids[i] = i == 3 ? 100 : i;
    T(fabs(select_windows_same_shard(windows, 4, ids) - .5) < 1e-12,
      "three of four ids are half of the pairs");
    select_windows_free(windows);
}

/* Batches of a plan are cut from the order, with each remainder. */
static void
plans_have_windows(const char *strategy, enum select_remainder remainder)
{
    enum { B = 16 };
    struct select_task task = {.seed = 9};
    struct select_plan *plan, *again;
    struct select_windows *windows;
    struct err err;
    int64_t want[B + 1];
    size_t right = 0;
    char name[2][64];

    REQUIRE(
        !select_layout_make(first[SHARDS], B, remainder, &task.layout, &err));
    task.windows = windows = select_windows_new(SHARDS, first, EACH, 9);
    plan = select_plan_new(select_strategy_find(strategy, &err), &task);
    again = select_plan_new(select_strategy_find(strategy, &err), &task);
    for (size_t epoch = 3; epoch--;)
        for (size_t step = 0; step < task.layout.steps; step++) {
            size_t n, at = select_layout_start(&task.layout, step);
            const int64_t *ids = select_plan_batch(plan, epoch, step, &n);

            select_windows_ids(windows, *strategy == 'f' ? 0 : epoch, at, n,
                               want);
            right += !memcmp(ids, want, n * sizeof *ids);
        }
    T(right == 3 * task.layout.steps, "%s has the batches of its windows",
      strategy);
    snprintf(name[0], sizeof name[0], "%s", select_plan_name(plan, 5));
    snprintf(name[1], sizeof name[1], "%s", select_plan_name(again, 5));
    T(!strcmp(name[0], name[1]) && select_plan_has(plan, 5) &&
          (*strategy == 'f') == !strcmp(name[0], select_plan_name(plan, 6)),
      "two plans name their orders alike");
    select_plan_free(plan);
    select_plan_free(again);
    select_windows_free(windows);
}

/* Returns the shards of window w of an epoch as bits. */
static uint64_t
window_of(size_t n, const int64_t *ids, size_t w)
{
    uint64_t seen = 0, bits = 0;
    size_t shards = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t bit = (uint64_t)1 << shard_of(ids[i]);

        if (!(seen & bit) && shards++ / EACH == w)
            bits |= bit;
        seen |= bit;
    }
    return bits;
}

/* The shards to have at each place: two windows. */
static void
two_windows_are_near(void)
{
    struct select_windows *windows = select_windows_new(SHARDS, first, EACH, 5);
    const size_t n = first[SHARDS];
    int64_t ids[2][9 * SHARDS];
    size_t right = 0, shard[2 * EACH];

    for (size_t epoch = 0; epoch < 2; epoch++)
        select_windows_ids(windows, epoch, 0, n, ids[epoch]);
    for (size_t at = 0; at < n; at++) {
        const uint64_t bit = (uint64_t)1 << shard_of(ids[0][at]);
        uint64_t bits = 0, want;
        size_t w = 0, some;

        while (!(window_of(n, ids[0], w) & bit))
            w++;
        want = window_of(n, ids[0], w) |
               (w + 1 < WINDOWS ? window_of(n, ids[0], w + 1)
                                : window_of(n, ids[1], 0));
        some = select_windows_near(windows, 0, 1, at, shard);
        for (size_t i = 0; i < some; i++)
            bits |= (uint64_t)1 << shard[i];
        right += bits == want && some <= (size_t)2 * EACH &&
                 (window_of(n, ids[0], w) >> shard[0] & 1);
    }
    T(right == n,
      "the shards of a place's window, then of the next: %zu of %zu", right, n);
    select_windows_free(windows);
}

int
main(void)
{
    for (size_t i = 0; i < SHARDS; i++)
        first[i + 1] = first[i] + 1 + i * 7 % 9;
    epochs_are_permutations();
    any_part_is_the_same();
    shards_are_permuted_uniformly();
    few_pairs_are_of_one_shard();
    two_windows_are_near();
    plans_have_windows("shuffle", SELECT_KEEP);
    plans_have_windows("shuffle", SELECT_WRAP);
    plans_have_windows("fixed", SELECT_DROP);
    return t_done();
}
