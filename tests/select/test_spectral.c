#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "num/threads.h"
#include "permutation.h"
#include "select/score.h"
#include "select/strategies.h"
#include "t.h"

enum { N = 720, B = 24, D = 16 };

static int64_t ids[N + B], other[N + B];

static const char *const names[] = {"njw", "code", "literal", "kmeans"};

static struct select_task
task_of(const struct select_features *f, size_t n, size_t b,
        enum spectral_variant variant)
{
    struct select_task task = {.seed = 2, .epoch = 1, .features = f};
    struct err err;

    param_defaults(select_strategy_spectral.params, task.value);
    task.value[SELECT_TAU] = 0.2;
    task.value[SPECTRAL_VARIANT] = variant;
    T(!select_layout_make(n, b, SELECT_KEEP, &task.layout, &err) &&
          !select_strategy_spectral.fit(&task.layout, task.value, &err),
      "%zu samples, batches of %zu, %s", n, b, names[variant]);
    return task;
}

static double
mean_loss(const struct select_task *task, const int64_t *order)
{
    return select_score(task->features, task->value[SELECT_TAU], &task->layout,
                        0, task->layout.steps, order)
        .mean;
}

/* Rows of numbers between -.5 and .5, as the reference vectors are made. */
static void
lcg(size_t count, uint64_t s, float *x)
{
    for (size_t i = 0; i < count; i++) {
        s = (1103515245 * s + 12345) % 2147483648;
        x[i] = (float)((double)s / 2147483648 - 0.5);
    }
}

/* Eight points for which the paper's code always finds the
 * best of all 105 pairings. */
static void
document(void)
{
    static const int64_t partner[8] = {2, 5, 0, 6, 7, 1, 3, 4};
    float u[32], v[32], more[32];
    const struct select_features f = {.d = 4, .u = u, .v = v};
    struct select_task task;
    int wrong = 0;

    lcg(32, 1, u);
    lcg(32, 2, more);
    num_unit_rows(8, 4, u, u, NULL);
    num_unit_rows(8, 4, more, more, NULL);
    for (size_t i = 0; i < 32; i++)
        v[i] = 0.7f * u[i] + 0.5f * more[i];
    num_unit_rows(8, 4, v, v, NULL);
    task = task_of(&f, 8, 2, SPECTRAL_CODE);
    task.value[SELECT_TAU] = 0.5;
    for (task.epoch = 0; task.epoch < 50; task.epoch++) {
        select_strategy_spectral.order(&task, ids);
        for (int i = 0; i < 8; i += 2)
            wrong += partner[ids[i]] != ids[i + 1];
    }
    T(!wrong, "the best pairs of eight points in each of 50 epochs");
}

/* As many classes as batches, far apart: each batch is a class. */
static void
finds_classes(enum spectral_variant variant)
{
    float *memory;
    const struct select_features f = clusters(N, D, N / B, 0.3, &memory);
    struct select_task task = task_of(&f, N, B, variant);
    int mixed = 0;

    task.value[SELECT_BLOCK] = N / B;
    task.value[SPECTRAL_RESTARTS] = 10;
    select_strategy_spectral.order(&task, ids);
    for (size_t i = 0; i < N; i++)
        mixed += ids[i] % (N / B) != ids[i / B * B] % (N / B);
    T(is_permutation(N, ids) && !mixed, "%s: classes become batches",
      names[variant]);
    free(memory);
}

/* More classes than batches, with noise: the loss rises all the same. */
static void
batches_become_harder(enum spectral_variant variant, double times)
{
    float *memory;
    const struct select_features f = clusters(N, D, 50, 1, &memory);
    struct select_task task = task_of(&f, N, B, variant);
    double random, planned;

    task.value[SELECT_TAU] = 0.1;
    select_shuffle(&task, other);
    random = mean_loss(&task, other);
    select_strategy_spectral.order(&task, ids);
    planned = mean_loss(&task, ids);
    T(planned > times * random, "%s: mean batch loss %.3f instead of %.3f",
      names[variant], planned, random);
    free(memory);
}

/* What overflows in single precision, what vanishes, what is all alike. */
static void
extremes(enum spectral_variant variant)
{
    float *memory, same[60 * 2];
    struct select_features f = clusters(N, D, 50, 1, &memory);
    struct select_task task = task_of(&f, N, B, variant);

    task.value[SELECT_TAU] = 0.005;
    select_strategy_spectral.order(&task, ids);
    T(is_permutation(N, ids), "%s: tau = 0.005", names[variant]);
    task.value[SELECT_TAU] = 1000;
    select_strategy_spectral.order(&task, ids);
    T(is_permutation(N, ids), "%s: tau = 1000", names[variant]);
    free(memory);

    for (size_t i = 0; i < 120; i++)
        same[i] = i % 2 == 0;
    f = (struct select_features){.d = 2, .u = same, .v = same};
    task = task_of(&f, 60, 7, variant);
    select_strategy_spectral.order(&task, ids);
    T(is_permutation(60, ids), "%s: equal rows", names[variant]);
}

static void
unknown_ones_stay(enum spectral_variant variant)
{
    float *memory;
    struct select_features f = clusters(N, D, 30, 0.5, &memory);
    struct select_task task = task_of(&f, N, B, variant);
    uint8_t known[N];
    size_t wrong = 0, moved = 0;

    for (size_t i = 0; i < N; i++) {
        known[i] = i % 3 != 0;
        if (!known[i]) // rows that hold anything at all
            memory[i * D] = NAN;
    }
    f.known = known;
    select_shuffle(&task, other);
    select_strategy_spectral.order(&task, ids);
    for (size_t i = 0; i < N; i++) {
        wrong += !known[other[i]] && ids[i] != other[i];
        moved += ids[i] != other[i];
    }
    T(is_permutation(N, ids) && !wrong && moved > N / 2,
      "%s: without features they stay, %zu others move", names[variant], moved);
    memset(known, 0, sizeof known);
    known[5] = known[7] = 1;
    select_strategy_spectral.order(&task, ids);
    T(!memcmp(ids, other, N * sizeof *ids), "of two known nothing is planned");
    free(memory);
}

/* Blocks are planned by themselves, on any number of threads. */
static void
threads_do_not_show(size_t block)
{
    float *memory;
    const struct select_features f = clusters(N, D, 30, 0.5, &memory);
    struct select_task task = task_of(&f, N, B, SPECTRAL_NJW);

    task.value[SELECT_BLOCK] = (double)block;
    num_threads(1);
    select_strategy_spectral.order(&task, ids);
    num_threads(2);
    select_strategy_spectral.order(&task, other);
    num_threads(1);
    T(!memcmp(ids, other, N * sizeof *ids),
      "blocks of %zu: two threads do what one does", block);
    free(memory);
}

/* Under wrap the last batch is filled with what is not in it. */
static void
wrap_fills_up(void)
{
    float *memory;
    const struct select_features f = clusters(N, D, 3, 0.5, &memory);
    struct select_task task = task_of(&f, N, B, SPECTRAL_KMEANS);
    int twice = 0;
    struct err err;

    T(!select_layout_make(25, 20, SELECT_WRAP, &task.layout, &err), "layout");
    for (task.epoch = 0; task.epoch < 20; task.epoch++) {
        select_strategy_spectral.order(&task, ids);
        for (size_t i = 20; i < 40; i++)
            for (size_t j = 20; j < i; j++)
                twice += ids[i] == ids[j];
    }
    T(!twice, "wrap: none twice in the last batch");
    free(memory);
}

static void
refuses(void)
{
    struct select_layout layout;
    double value[PARAM_MOST];
    struct err err;

    param_defaults(select_strategy_spectral.params, value);
    T(!select_layout_make(1000000, 512, SELECT_KEEP, &layout, &err), "layout");
    T(!select_strategy_spectral.fit(&layout, value, &err),
      "by default as many as can be planned together");
    value[SELECT_BLOCK] = 40;
    T(select_strategy_spectral.fit(&layout, value, &err) == -1, "%s", err.msg);
    value[SELECT_BLOCK] = 0;
    T(select_strategy_spectral.fit(&layout, value, &err) == -1, "%s", err.msg);
    value[SELECT_BLOCK] = 39;
    T(!select_strategy_spectral.fit(&layout, value, &err),
      "39 batches of 512 are fine");
}

int
main(void)
{
    num_threads(1);
    document();
    finds_classes(SPECTRAL_NJW);
    finds_classes(SPECTRAL_CODE);
    finds_classes(SPECTRAL_KMEANS);
    batches_become_harder(SPECTRAL_NJW, 5);
    batches_become_harder(SPECTRAL_CODE, 5);
    batches_become_harder(SPECTRAL_LITERAL, 1.5);
    batches_become_harder(SPECTRAL_KMEANS, 5);
    for (int v = SPECTRAL_NJW; v <= SPECTRAL_KMEANS; v++) {
        extremes((enum spectral_variant)v);
        unknown_ones_stay((enum spectral_variant)v);
    }
    threads_do_not_show(7);
    threads_do_not_show(30);
    wrap_fills_up();
    refuses();
    return t_done();
}
