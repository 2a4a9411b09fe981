#include <stdlib.h>
#include <string.h>

#include "eval/frozen.h"
#include "num/gemm.h"
#include "util/mem.h"
#include "util/rng.h"

struct eval_frozen {
    const struct eval_views *views;
    struct eval_frozen_settings settings;
    struct sample_settings sampler;
    struct sample_source source;
    struct select_features features;
    struct select_task task;
    struct select_plan *plan;
    int64_t total;                /* steps so far */
    float *column;                /* [sides,samples,columns] of the objective */
    struct arena scratch;         /* of a batch */
    struct loss_batch loss_batch; /* the batch, for the objective */
    struct eval_batch batch;
    float *rows; /* [columns,d] of the batch */
};

void
eval_frozen_move(struct eval_frozen *f, const struct eval_views *views)
{
    REQUIRE(!f->views ||
            (views->samples == f->views->samples &&
             views->views == f->views->views && views->d == f->views->d));
    f->views = views;
    f->features =
        (struct select_features){.d = views->d,
                                 .u = views->v,
                                 .v = views->v + views->samples * views->d};
}

static int
make_plan(struct eval_frozen *f, struct err *err)
{
    struct select_task *task = &f->task;

    task->seed = f->settings.seed;
    if (select_layout_make(f->views->samples, f->settings.batch, SELECT_KEEP,
                           &task->layout, err) ||
        select_strategy_fit(f->settings.strategy, &task->layout,
                            f->settings.plan, err))
        return -1;
    memcpy(task->value, f->settings.plan, sizeof task->value);
    f->plan = select_plan_new(f->settings.strategy, task);
    task->features = &f->features;
    return 0;
}

static size_t
count_sides(const struct eval_frozen *f)
{
    return f->settings.objective->sides ? 2 : 1;
}

struct eval_frozen *
eval_frozen_new(const struct eval_views *views,
                const struct eval_frozen_settings *how, struct err *err)
{
    const struct loss_objective *objective = how->objective;
    const size_t k = objective->columns;
    struct eval_frozen *f;
    size_t n;

    REQUIRE(views->views >= 2);
    REQUIRE(!objective->needs_weights || how->sampler);
    if (objective->by_encoder || objective->aux_columns) {
        err_set(err,
                "%s needs more of an encoder than embeddings: it cannot be "
                "measured on rows",
                objective->name);
        return NULL;
    }
    if (loss_objective_check(objective, &how->settings, how->batch, 2, views->d,
                             err))
        return NULL;
    f = mem_array(1, sizeof *f);
    f->settings = *how;
    eval_frozen_move(f, views);
    if (make_plan(f, err)) {
        free(f);
        return NULL;
    }
    n = count_sides(f) * views->samples;
    f->column = mem_array(n * k + 1, sizeof *f->column);
    for (size_t i = 0; i < n * k; i++)
        f->column[i] = objective->initial[i % k];
    if (objective->needs_weights) {
        f->sampler = *how->sampler;
        f->sampler.draws_outside = 1;
        f->sampler.seed = how->seed;
        sample_settings_set(&f->sampler, "horizon", 1);
        sample_source_init(&f->source, &f->sampler, views->samples);
    }
    return f;
}

void
eval_frozen_free(struct eval_frozen *f)
{
    if (!f)
        return;
    if (f->settings.objective->needs_weights)
        sample_source_release(&f->source);
    select_plan_free(f->plan);
    arena_release(&f->scratch);
    mem_free(f->column, f);
}

size_t
eval_frozen_steps(const struct eval_frozen *f)
{
    return f->task.layout.steps;
}

/* Chooses two different views of each image: [2,b]. */
static int64_t *
draw_pairs(struct eval_frozen *f, uint64_t epoch, size_t b, const int64_t *ids)
{
    const size_t v = f->views->views;
    int64_t *variant = arena_take(&f->scratch, 2 * b, sizeof *variant);

    for (size_t i = 0; i < b; i++) {
        struct rng rng;

        rng_init(&rng, f->settings.seed, RNG_VARIANT, (uint64_t)ids[i], epoch,
                 0);
        variant[i] = v == 2 ? 0 : (int64_t)rng_below(&rng, v);
        variant[b + i] = v == 2 ? 1 : (int64_t)rng_below(&rng, v - 1);
        if (v > 2)
            variant[b + i] += variant[b + i] >= variant[i];
    }
    return variant;
}

/* Chooses the views of extra samples: those that the sampler named, or random
 * ones. */
static int64_t *
choose_views(struct eval_frozen *f, const struct batch *step)
{
    const struct batch_extra *extras = &step->extra;
    int64_t *view = arena_take(&f->scratch, extras->n + 1, sizeof *view);
    struct rng rng;

    for (size_t j = 0; j < extras->n; j++) {
        rng_init(&rng, f->settings.seed, RNG_EVAL, (uint64_t)step->epoch,
                 (uint64_t)step->step, j);
        view[j] = extras->view && extras->view[j] >= 0
                      ? extras->view[j]
                      : (int64_t)rng_below(&rng, f->views->views);
    }
    return view;
}

/* Copies the rows of the batch from the array `from`, with room after them for
 * constants (eval/frozen.h). */
static float *
copy_rows(struct eval_frozen *f, const struct eval_batch *batch,
          size_t constants, const float *from)
{
    const size_t d = f->views->d;
    float *rows =
        arena_take(&f->scratch, (batch->rows + constants) * d, sizeof *rows);

    for (size_t i = 0; i < batch->rows; i++)
        memcpy(rows + i * d, from + batch->row[i] * d, d * sizeof *rows);
    return rows;
}

static void
place_rows(struct eval_frozen *f, const struct batch *step)
{
    const size_t b = step->b, samples = f->views->samples;
    struct eval_batch *batch = &f->batch;
    size_t *row;

    batch->b = b;
    batch->rows = batch->columns = 2 * b + step->extra.n;
    batch->ids = step->ids;
    batch->row = row = arena_take(&f->scratch, batch->rows, sizeof *row);
    for (size_t i = 0; i < 2 * b; i++)
        row[i] = (size_t)step->view_of[i] * samples + (size_t)step->ids[i % b];
    for (size_t j = 0; j < step->extra.n; j++)
        row[2 * b + j] =
            (size_t)step->extra.view[j] * samples + (size_t)step->extra.ids[j];
}

/* Weighs the negatives of the batch. */
static int
weigh_batch(struct eval_frozen *f, struct batch *step, struct err *err)
{
    struct eval_batch *batch = &f->batch;
    const float *v = copy_rows(f, batch, 0, f->views->v);

    step->beta = 1 / f->settings.settings.value[LOSS_TAU];
    step->dim = f->views->d;
    step->z = v;
    step->extra.z = v + 2 * step->b * step->dim;
    if (sample_source_weigh(&f->source, step, &batch->weights, err))
        return -1;
    batch->columns += batch->weights.n_outside;
    batch->state = f->source.state;
    return 0;
}

int
eval_frozen_next(struct eval_frozen *f, uint64_t epoch, uint64_t number,
                 struct eval_batch *batch, struct err *err)
{
    struct batch step = {.epoch = (int64_t)epoch,
                         .step = (int64_t)number,
                         .v = 2,
                         .fixed = (int64_t)f->views->views};
    const struct eval_batch *made = &f->batch;
    const size_t d = f->views->d;
    size_t constants;

    arena_begin(&f->scratch);
    // the first batch of an epoch makes the order
    if (f->settings.strategy->needs_features &&
        !select_plan_has(f->plan, epoch)) {
        int64_t *ids =
            mem_array(select_layout_total(&f->task.layout), sizeof *ids);

        f->task.epoch = epoch;
        select_strategy_order(f->settings.strategy, &f->task, ids);
        select_plan_put(f->plan, epoch, ids);
        free(ids);
    }
    step.ids = select_plan_batch(f->plan, epoch, number, &step.b);
    step.view_of = draw_pairs(f, epoch, step.b, step.ids);
    if (f->settings.objective->needs_weights) {
        step.extra = sample_source_draw(&f->source, &step, f->total);
        step.extra.view = choose_views(f, &step);
        step.extra.epoch = NULL;
    }
    f->batch = (struct eval_batch){0};
    place_rows(f, &step);
    if (f->settings.objective->needs_weights && weigh_batch(f, &step, err))
        return -1;
    constants = made->weights.n_outside;
    f->rows = copy_rows(f, made, constants, f->views->z);
    if (constants)
        memcpy(f->rows + made->rows * d, made->weights.outside,
               constants * d * sizeof *f->rows);
    f->loss_batch = (struct loss_batch){.b = made->b,
                                        .extra = made->columns - 2 * made->b,
                                        .constant = constants,
                                        .dim = d,
                                        .weights = made->weights.w,
                                        .scale = made->weights.scale};
    f->total++;
    *batch = f->batch;
    return 0;
}

/* Copies the state of the batch's images from the table, or back into it. */
static void
move_columns(struct eval_frozen *f, float *state, int back)
{
    const size_t k = f->settings.objective->columns, b = f->batch.b;

    for (size_t i = 0; i < count_sides(f) * b; i++) {
        float *at =
            f->column +
            (i / b * f->views->samples + (size_t)f->batch.ids[i % b]) * k;

        memcpy(back ? at : state + i * k, back ? state + i * k : at,
               k * sizeof *at);
    }
}

static float *
take_state(struct eval_frozen *f)
{
    const struct loss_objective *objective = f->settings.objective;
    const size_t n = loss_objective_states(objective, f->batch.b);
    float *state =
        arena_take(&f->scratch, n * objective->columns + 1, sizeof *state);

    move_columns(f, state, 0);
    return state;
}

/* Computes the gradient, with a share if the batch has groups. */
static float *
run_batch(struct eval_frozen *f, struct loss_report *report)
{
    const struct loss_objective *objective = f->settings.objective;
    float *state = take_state(f);
    float *dz =
        arena_take(&f->scratch, f->batch.rows * f->views->d, sizeof *dz);
    float *work =
        arena_take(&f->scratch, loss_objective_size(objective, &f->loss_batch),
                   sizeof *work);

    loss_objective_run(objective, &f->settings.settings, &f->loss_batch,
                       f->rows, state, dz, work, report);
    move_columns(f, state, 1);
    return dz;
}

const float *
eval_frozen_gradient(struct eval_frozen *f)
{
    struct loss_report report;

    return run_batch(f, &report);
}

int
eval_frozen_share(struct eval_frozen *f, const int64_t *group,
                  struct loss_share *share)
{
    int64_t *ids = mem_array(2 * f->batch.rows, sizeof *ids);
    struct loss_report report;

    for (size_t i = 0; i < f->batch.rows; i++) {
        ids[i] = (int64_t)(f->batch.row[i] % f->views->samples);
        ids[f->batch.rows + i] = group[ids[i]];
    }
    f->loss_batch.sample = ids;
    f->loss_batch.group = ids + f->batch.rows;
    run_batch(f, &report);
    *share = report.share;
    free(ids);
    return f->settings.objective->direct ? -1 : 0;
}
