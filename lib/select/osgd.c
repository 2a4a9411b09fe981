#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/score.h"
#include "util/mem.h"

#include "strategies.h"

/*
 * Ordered SGD: of several random batches, train those with the largest loss
 * (Kawaguchi and Lu 2020; lib/algorithms.md 5.3).  The loss is that of
 * select/score.h with the current features.  All batches have the size of the
 * layout's largest.
 *
 * osgd, k = `draws`, q = `top`:
 *
 *   without replacement  A random partition of the samples into
 *       M = floor(N / B) batches is cut into ceil(M / k) groups of at most k
 *       consecutive batches, of equal size up to one.  The q hardest of each
 *       group are trained: an epoch has about M q / k steps, and each sample
 *       is trained at most once.
 *   with replacement (`with-replacement`)  k different random batches are
 *       drawn and the q hardest of them trained, repeatedly until the epoch of
 *       the layout is full.
 *
 * Of M batches, ranked by descending loss, one draw of k trains the j-th with
 * the probability
 *
 *     gamma_j = sum_{l<q} C(j-1, l) C(M-j, k-l-1) / C(M, k),  sum_j gamma_j = q
 *
 * osgd-full trains the q hardest of all C(N, B) batches: an epoch of q steps.
 * It is for the few samples of synthetic experiments.
 *
 * The chosen batches are in ascending order of loss.  If some samples of a
 * batch have no features, its loss is that of the others plus 2 log(B / known),
 * by which more negatives would raise it; a batch without any features is the
 * hardest.  Groups run in threads; the result does not depend on their number.
 *
 * fit() refuses top > draws, more draws than there are different batches, and
 * for osgd-full more than 2^20 batches or fewer than `top`.
 */

/* Maximum batches that osgd-full evaluates in an epoch. */
static const double most_batches = 1 << 20;

/* C(n, b), or more than 1e15. */
static double
count_subsets(size_t n, size_t b)
{
    double count = 1;

    for (size_t i = 1; i <= b && count <= 1e15; i++)
        count = count * (double)(n - b + i) / (double)i;
    return nearbyint(count);
}

static void
make_even(struct select_layout *layout)
{
    layout->batch += layout->larger > 0;
    layout->larger = 0;
}

static size_t
smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
groups_of(size_t batches, size_t draws)
{
    return (batches + draws - 1) / draws;
}

/* The first batch of the g-th group. */
static size_t
group_start(size_t batches, size_t groups, size_t g)
{
    return g * batches / groups;
}

/* The steps of the groups before the g-th. */
static size_t
steps_before(size_t batches, size_t groups, size_t keep, size_t g)
{
    size_t steps = 0;

    for (size_t i = 0; i < g; i++)
        steps += smaller_of(keep, group_start(batches, groups, i + 1) -
                                      group_start(batches, groups, i));
    return steps;
}

static int
osgd_fit(struct select_layout *layout, const double *value, struct err *err)
{
    const size_t keep = (size_t)value[OSGD_TOP];
    const size_t draws = (size_t)value[OSGD_DRAWS];
    size_t batches, groups;

    if (keep > draws)
        return err_set(err, "top=%zu of draws=%zu: want top at most draws",
                       keep, draws);
    make_even(layout);
    batches = layout->size / layout->batch;
    if (value[OSGD_REPLACE]) {
        double all = count_subsets(layout->size, layout->batch);

        if ((double)draws > all)
            return err_set(err,
                           "%zu batches to draw, but %zu samples make only "
                           "%.0f different ones of %zu",
                           draws, layout->size, all, layout->batch);
        return 0;
    }
    groups = groups_of(batches, draws);
    layout->steps = steps_before(batches, groups, keep, groups);
    return 0;
}

static int
full_fit(struct select_layout *layout, const double *value, struct err *err)
{
    const size_t keep = (size_t)value[OSGD_TOP];
    double all;

    make_even(layout);
    all = count_subsets(layout->size, layout->batch);
    if (all > most_batches)
        return err_set(err,
                       "%zu samples make more different batches of %zu than "
                       "the %.0f that osgd-full can evaluate in an epoch",
                       layout->size, layout->batch, most_batches);
    if ((double)keep > all)
        return err_set(err,
                       "top=%zu batches, but %zu samples make only %.0f "
                       "different ones of %zu",
                       keep, layout->size, all, layout->batch);
    layout->steps = keep;
    return 0;
}

/* The hardest batches so far, by ascending loss. */
struct hardest {
    const struct select_task *task;
    size_t room, n;
    double *loss; /* [room] */
    int64_t *ids; /* [room,batch] */
    int64_t *known;
    float *work;
};

static void
hardest_init(struct hardest *hardest, const struct select_task *task,
             size_t room)
{
    size_t b = task->layout.batch;

    *hardest = (struct hardest){.task = task, .room = room};
    hardest->loss = mem_array(room, sizeof *hardest->loss);
    hardest->ids = mem_array(room * b, sizeof *hardest->ids);
    hardest->known = mem_array(b, sizeof *hardest->known);
    hardest->work = mem_aligned(select_batch_work(b, task->features->d),
                                sizeof *hardest->work);
}

static void
hardest_release(struct hardest *hardest)
{
    mem_free(hardest->loss, hardest->ids, hardest->known, hardest->work);
}

static double
loss_of(struct hardest *hardest, const int64_t *ids)
{
    const struct select_features *features = hardest->task->features;
    size_t b = hardest->task->layout.batch, known = 0;

    for (size_t i = 0; i < b; i++) {
        hardest->known[known] = ids[i];
        known += !features->known || features->known[ids[i]];
    }
    if (!known)
        return INFINITY;
    return select_batch_loss(features, hardest->task->value[SELECT_TAU], known,
                             hardest->known, hardest->work) +
           2 * log((double)b / (double)known);
}

/* Inserts a batch if there is room, else replaces the easiest one. */
static void
offer_batch(struct hardest *hardest, const int64_t *ids)
{
    size_t b = hardest->task->layout.batch, at = hardest->n;
    double loss = loss_of(hardest, ids);

    if (at == hardest->room) {
        if (loss <= hardest->loss[0])
            return;
        at = --hardest->n;
        memmove(hardest->loss, hardest->loss + 1, at * sizeof loss);
        memmove(hardest->ids, hardest->ids + b, at * b * sizeof *ids);
    }
    while (at && hardest->loss[at - 1] >= loss)
        at--;
    memmove(hardest->loss + at + 1, hardest->loss + at,
            (hardest->n - at) * sizeof loss);
    memmove(hardest->ids + (at + 1) * b, hardest->ids + at * b,
            (hardest->n - at) * b * sizeof *ids);
    hardest->n++;
    hardest->loss[at] = loss;
    memcpy(hardest->ids + at * b, ids, b * sizeof *ids);
}

static int
compare_batch_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Draws different batches, ids ascending: batch [draws,b]. */
static void
draw_batches(const struct select_task *task, uint64_t round,
             unsigned char *taken, int64_t *batch)
{
    const size_t draws = (size_t)task->value[OSGD_DRAWS];
    size_t b = task->layout.batch;
    struct rng rng;

    rng_init(&rng, task->seed, RNG_PLAN, task->epoch, round, STREAM_OSGD);
    for (size_t i = 0; i < draws;) {
        int64_t *ids = batch + i * b;
        size_t j = 0;

        select_replace_draw(&rng, task->layout.size, b, taken, ids);
        qsort(ids, b, sizeof *ids, compare_batch_ids);
        while (j < i && memcmp(batch + j * b, ids, b * sizeof *ids))
            j++;
        i += j == i;
    }
}

static void
with_replacement(const struct select_task *task, int64_t *ids)
{
    const size_t draws = (size_t)task->value[OSGD_DRAWS];
    const size_t keep = (size_t)task->value[OSGD_TOP];
    const size_t steps = task->layout.steps;
    size_t b = task->layout.batch;

#pragma omp parallel for schedule(dynamic)
    for (size_t step = 0; step < steps; step += keep) {
        int64_t *batch = mem_array(draws * b, sizeof *batch);
        unsigned char *taken = mem_array(task->layout.size, 1);
        struct hardest hardest;

        draw_batches(task, step, taken, batch);
        hardest_init(&hardest, task, smaller_of(keep, steps - step));
        for (size_t i = 0; i < draws; i++)
            offer_batch(&hardest, batch + i * b);
        memcpy(ids + step * b, hardest.ids, hardest.n * b * sizeof *ids);
        hardest_release(&hardest);
        mem_free(taken, batch);
    }
}

static void
without_replacement(const struct select_task *task, int64_t *ids)
{
    size_t b = task->layout.batch, batches = task->layout.size / b;
    const size_t keep = (size_t)task->value[OSGD_TOP];
    size_t groups = groups_of(batches, (size_t)task->value[OSGD_DRAWS]);
    struct select_task all = *task;
    int64_t *partition = mem_array(batches * b, sizeof *partition);

    all.layout.steps = batches;
    select_shuffle(&all, partition);
#pragma omp parallel for schedule(dynamic)
    for (size_t g = 0; g < groups; g++) {
        size_t from = group_start(batches, groups, g);
        size_t to = group_start(batches, groups, g + 1);
        struct hardest hardest;

        hardest_init(&hardest, task, smaller_of(keep, to - from));
        for (size_t i = from; i < to; i++)
            offer_batch(&hardest, partition + i * b);
        memcpy(ids + steps_before(batches, groups, keep, g) * b, hardest.ids,
               hardest.n * b * sizeof *ids);
        hardest_release(&hardest);
    }
    free(partition);
}

static void
order_osgd(const struct select_task *task, int64_t *ids)
{
    if (task->value[OSGD_REPLACE])
        with_replacement(task, ids);
    else
        without_replacement(task, ids);
}

/* The next subset of b of 0 .. n-1 in lexicographic order; 0 after the last. */
static int
next_subset(size_t n, size_t b, int64_t *ids)
{
    size_t i = b;

    while (i && ids[i - 1] == (int64_t)(n - b + i - 1))
        i--;
    if (!i)
        return 0;
    ids[i - 1]++;
    for (; i < b; i++)
        ids[i] = ids[i - 1] + 1;
    return 1;
}

static void
order_full(const struct select_task *task, int64_t *ids)
{
    size_t b = task->layout.batch;
    int64_t *subset = mem_array(b, sizeof *subset);
    struct hardest hardest;

    for (size_t i = 0; i < b; i++)
        subset[i] = (int64_t)i;
    hardest_init(&hardest, task, task->layout.steps);
    do
        offer_batch(&hardest, subset);
    while (next_subset(task->layout.size, b, subset));
    memcpy(ids, hardest.ids, hardest.n * b * sizeof *ids);
    hardest_release(&hardest);
    free(subset);
}

/* A parameter of both. */
#define TOP                    \
    [OSGD_TOP] = {PARAM_WHOLE( \
        "top", 1, 1, 1e9, "batches with the largest loss that are trained")}

static const struct param params[] = {
    SELECT_PARAMS,
    TOP,
    [OSGD_DRAWS] = {PARAM_WHOLE("draws", 10, 1, 1e9,
                                "random batches to choose them from")},
    [OSGD_REPLACE] = {PARAM_FLAG("with-replacement",
                                 "draw each batch independently")},
    {0},
};
static const struct param full_params[] = {SELECT_PARAMS, TOP, {0}};

const struct select_strategy select_strategy_osgd = {
    .name = "osgd",
    .summary = "the hardest of several random batches",
    .params = params,
    .needs_features = 1,
    .partial = 1,
    .fit = osgd_fit,
    .order = order_osgd,
};

const struct select_strategy select_strategy_osgd_full = {
    .name = "osgd-full",
    .summary = "the hardest of all possible batches",
    .params = full_params,
    .needs_features = 1,
    .partial = 1,
    .fit = full_fit,
    .order = order_full,
};
