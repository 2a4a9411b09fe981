#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "select/strategy.h"
#include "t.h"
#include "util/mem.h"

/* The ids of an epoch, to be given to free(). */
static int64_t *
epoch_of(const struct select_strategy *strategy, const struct select_task *task)
{
    size_t total = select_layout_total(&task->layout);
    int64_t *ids = mem_array(total, sizeof *ids);

    select_strategy_order(strategy, task, ids);
    return ids;
}

/* 1 when each batch holds different samples that exist. */
static int
is_legal(const struct select_layout *layout, const int64_t *ids)
{
    int legal = 1;

    for (size_t step = 0; step < layout->steps; step++) {
        size_t n = select_layout_count(layout, step);
        const int64_t *id = ids + select_layout_start(layout, step);

        for (size_t i = 0; i < n; i++) {
            legal &= id[i] >= 0 && (size_t)id[i] < layout->size;
            for (size_t j = 0; j < i; j++)
                legal &= id[i] != id[j];
        }
    }
    return legal;
}

/* 1 when each sample comes as often as the remainder allows. */
static int
is_fair(const struct select_layout *layout, enum select_remainder remainder,
        const int64_t *ids)
{
    static const int least[] = {1, 0, 1}, most[] = {1, 1, 2};
    int *came = mem_array(layout->size, sizeof *came), fair = 1;

    for (size_t i = 0; i < select_layout_total(layout); i++)
        came[ids[i]]++;
    for (size_t i = 0; i < layout->size; i++)
        fair &= came[i] >= least[remainder] && came[i] <= most[remainder];
    free(came);
    return fair;
}

/* What was seen of a strategy. */
struct seen {
    int legal, fair, same, tried, differ;
};

static void
look(const struct select_strategy *strategy, struct select_task task,
     enum select_remainder remainder, struct seen *seen)
{
    size_t bytes = select_layout_total(&task.layout) * sizeof(int64_t);
    int64_t *a = epoch_of(strategy, &task), *b = epoch_of(strategy, &task), *c;

    task.epoch++;
    c = epoch_of(strategy, &task);
    seen->legal &= is_legal(&task.layout, a) && is_legal(&task.layout, c);
    seen->fair &= strategy->partial || (is_fair(&task.layout, remainder, a) &&
                                        is_fair(&task.layout, remainder, c));
    seen->same &= !memcmp(a, b, bytes);
    seen->differ += memcmp(a, c, bytes) != 0;
    seen->tried++;
    free(a);
    free(b);
    free(c);
}

/* Without features, with some, with all, refined, softened, parted. */
static void
look_at_ways(const struct select_strategy *strategy, struct select_task task,
             enum select_remainder remainder,
             const struct select_features *features, struct seen *seen)
{
    struct select_features some = *features, all = *features;
    uint8_t known[101];
    int64_t group[101];
    struct err err;

    for (size_t i = 0; i < task.layout.size; i++) {
        known[i] = i % 3 != 1;
        group[i] = i % 5 ? (int64_t)(i % 7) : -1;
    }
    some.known = known;
    look(strategy, task, remainder, seen);
    task.features = &all;
    look(strategy, task, remainder, seen);
    task.features = &some;
    task.group = group;
    look(strategy, task, remainder, seen);
    task.value[SELECT_BLOCK] = 0;
    if (select_strategy_fit(strategy, &task.layout, task.value, &err))
        task.value[SELECT_BLOCK] = 3;
    task.value[SELECT_REFINE] = 1;
    look(strategy, task, remainder, seen);
    task.group = NULL;
    task.value[SELECT_HARDNESS] = 0.5;
    look(strategy, task, remainder, seen);
}

/* G5, over awkward sizes: B that does not divide N, prime N, more than N. */
static void
promises(const struct select_strategy *strategy,
         const struct select_features *features)
{
    static const size_t size[] = {2, 3, 8, 9, 31, 101};
    static const size_t batch[] = {2, 3, 7, 31, 120};
    size_t sizes = sizeof size / sizeof *size;
    struct seen seen = {1, 1, 1, 0, 0};
    struct err err;

    if (!strcmp(strategy->name, "osgd-full"))
        sizes--; // of 101 samples there are too many batches
    for (size_t i = 0; i < sizes; i++)
        for (size_t j = 0; j < sizeof batch / sizeof *batch; j++)
            for (int r = SELECT_KEEP; r <= SELECT_WRAP; r++) {
                struct select_task task = {.seed = 5, .epoch = 3};
                double *draws;

                param_defaults(strategy->params, task.value);
                task.value[SELECT_BLOCK] = 2;
                draws = param_at(strategy->params, task.value, "draws");
                if (draws)
                    *draws = 3;
                if (select_layout_make(size[i], batch[j],
                                       (enum select_remainder)r, &task.layout,
                                       &err) ||
                    select_strategy_fit(strategy, &task.layout, task.value,
                                        &err))
                    continue; // does not exist, and says so
                look_at_ways(strategy, task, (enum select_remainder)r, features,
                             &seen);
            }
    T(seen.tried >= 50, "%s: %d ways", strategy->name, seen.tried);
    T(seen.legal, "%s: ids exist, none twice in a batch", strategy->name);
    if (!strategy->partial)
        T(seen.fair, "%s: each sample once, left over or filling up",
          strategy->name);
    T(seen.same, "%s: the same epoch is the same order", strategy->name);
    T(seen.differ * 10 > seen.tried, "%s: another epoch is another order",
      strategy->name);
}

int
main(void)
{
    float *memory;
    struct select_features features = clusters(101, 12, 9, 1, &memory);
    struct err err;

    for (size_t i = 0; select_strategies[i]; i++) {
        const struct select_strategy *strategy = select_strategies[i];

        T(select_strategy_find(strategy->name, &err) == strategy,
          "%s is found by its name", strategy->name);
        promises(strategy, &features);
    }
    T(!select_strategy_find("psychic", &err) &&
          strstr(err.msg, "no strategy 'psychic': there are shuffle replace"),
      "an unknown name is refused with the list: %s", err.msg);
    free(memory);
    return t_done();
}
