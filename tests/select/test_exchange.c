#include <stdlib.h>
#include <string.h>

#include "select/exchange.h"
#include "t.h"
#include "util/mem.h"

enum { N = 60, K = 7 };

static size_t start[K + 1] = {0, 9, 18, 27, 36, 44, 52, 60};

/* Random symmetric weights between 0 and 1. */
static void
weights(uint64_t seed, float *w)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    memset(w, 0, N * N * sizeof *w);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            w[i * N + j] = w[j * N + i] = (float)rng_unit(&rng);
}

static void
in_order(uint32_t *item)
{
    for (uint32_t i = 0; i < N; i++)
        item[i] = i;
}

static int
is_permutation(const uint32_t *item)
{
    int count[N] = {0}, wrong = 0;

    for (size_t i = 0; i < N; i++)
        count[item[i]]++;
    for (size_t i = 0; i < N; i++)
        wrong += count[i] != 1;
    return !wrong;
}

/* The largest gain that any exchange has left, by computing W anew. */
static double
largest_gain(const struct select_exchange *task)
{
    double before = select_exchange_weight(task), most = -INFINITY;

    for (size_t c = 0; c < K; c++)
        for (size_t x = start[c]; x < start[c + 1]; x++)
            for (size_t y = start[c + 1]; y < N; y++) {
                uint32_t i = task->item[x];

                task->item[x] = task->item[y];
                task->item[y] = i;
                most = fmax(most, select_exchange_weight(task) - before);
                task->item[y] = task->item[x];
                task->item[x] = i;
            }
    return most;
}

static void
ends_where_no_exchange_gains(size_t kicks)
{
    float *w = mem_array(N * N, sizeof *w);
    uint32_t item[N], again[N];
    struct select_exchange task = {
        .n = N, .k = K, .w = w, .start = start, .item = item, .kicks = kicks};
    int wrong = 0, same = 1;

    for (uint64_t seed = 0; seed < 5; seed++) {
        struct rng rng;
        double before, after;

        weights(seed, w);
        for (int run = 0; run < 2; run++) {
            in_order(item);
            rng_init(&rng, seed, RNG_TEST, 1, 0, 0);
            before = select_exchange_weight(&task);
            after = select_exchange_run(&task, &rng);
            if (!run)
                memcpy(again, item, sizeof item);
        }
        same &= !memcmp(again, item, sizeof item);
        wrong += fabs(after - select_exchange_weight(&task)) > 1e-9;
        wrong += after <= before || !is_permutation(item);
        wrong += largest_gain(&task) > 1e-3;
    }
    T(!wrong, "%zu kicks: a permutation that no exchange betters", kicks);
    T(same, "%zu kicks: the same every time", kicks);
    free(w);
}

/* Blocks of ones on the diagonal, hidden by a permutation. */
static void
finds_what_was_hidden(void)
{
    float *w = mem_array(N * N, sizeof *w);
    uint32_t item[N];
    struct select_exchange task = {
        .n = N, .k = K, .w = w, .start = start, .item = item, .kicks = 200};
    double all = 0;
    struct rng rng;

    for (size_t c = 0; c < K; c++)
        for (size_t x = start[c]; x < start[c + 1]; x++)
            for (size_t y = start[c]; y < start[c + 1]; y++)
                if (x != y) {
                    w[x * 37 % N * N + y * 37 % N] = 1;
                    all += .5;
                }
    in_order(item);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    T_NEAR(select_exchange_run(&task, &rng), all, 1e-9, "every block found");
    free(w);
}

static void
keeps_what_is_fixed(void)
{
    float *w = mem_array(N * N, sizeof *w);
    uint8_t fixed[N] = {0};
    uint32_t item[N];
    struct select_exchange task = {.n = N,
                                   .k = K,
                                   .w = w,
                                   .fixed = fixed,
                                   .start = start,
                                   .item = item,
                                   .kicks = 20};
    struct rng rng;
    int stayed = 1, moved = 0;

    weights(9, w);
    in_order(item);
    for (size_t i = 0; i < N; i += 3)
        fixed[i] = 1;
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    select_exchange_run(&task, &rng);
    for (uint32_t i = 0; i < N; i++) {
        stayed &= !fixed[i] || item[i] == i;
        moved += item[i] != i;
    }
    T(stayed && moved > N / 3, "fixed items stay, %d others moved", moved);
    free(w);
}

/* A negative weight keeps two apart. */
static void
keeps_apart(void)
{
    float *w = mem_array(N * N, sizeof *w);
    uint32_t item[N];
    struct select_exchange task = {
        .n = N, .k = K, .w = w, .start = start, .item = item, .kicks = 5};
    struct rng rng;
    int together = 0;

    weights(4, w);
    for (size_t i = 0; i + 1 < N; i += 2)
        w[i * N + i + 1] = w[(i + 1) * N + i] = -100;
    in_order(item);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    select_exchange_run(&task, &rng);
    for (size_t c = 0; c < K; c++)
        for (size_t x = start[c]; x < start[c + 1]; x++)
            for (size_t y = start[c]; y < start[c + 1]; y++)
                together += item[x] % 2 == 0 && item[y] == item[x] + 1;
    T(!together, "what is not to meet does not");
    free(w);
}

int
main(void)
{
    ends_where_no_exchange_gains(0);
    ends_where_no_exchange_gains(30);
    finds_what_was_hidden();
    keeps_what_is_fixed();
    keeps_apart();
    return t_done();
}
