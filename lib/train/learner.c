#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "train/learner.h"
#include "util/clock.h"
#include "util/mem.h"

/* Returns 1 if there is a second encoder, and it reads tokens, not views. */
static int
reads_tokens(const struct train_encoder *second)
{
    return second && second->kind == NN_TOKENS;
}

static int
check_learner(const struct train_learner_spec *spec, struct err *err)
{
    const struct train_encoder *one = spec->encoder[0], *two = spec->encoder[1];

    if (two && one->dim != two->dim)
        return err_set(err,
                       "two encoders of %zu and %zu numbers: their embeddings "
                       "must be equally wide",
                       one->dim, two->dim);
    REQUIRE(!spec->objective->needs_weights || spec->negatives);
    return loss_objective_check(spec->objective, spec->settings, spec->images,
                                spec->views, one->dim, err);
}

int
train_learner_open(struct train_learner *learner,
                   const struct train_learner_spec *spec, struct err *err)
{
    // one for each chain
    const size_t outside =
        spec->objective->cross_weights_only ? 2 * spec->images : 0;
    const size_t views = spec->views ? spec->views : 2;
    const size_t rows = views * spec->images + spec->extra + outside;
    const size_t d = spec->encoder[0]->dim;
    const struct loss_batch largest = {.b = spec->images,
                                       .v = views,
                                       .extra = spec->extra + outside,
                                       .constant = outside,
                                       .dim = d};

    *learner = (struct train_learner){0};
    if (check_learner(spec, err))
        return -1;
    learner->spec = *spec;
    learner->spec.views = views;
    learner->dim = d;
    learner->outside = outside;
    if (spec->table_views)
        learner->table_rows = mem_array(rows, sizeof *learner->table_rows);
    else if ((spec->extra || spec->encoder[0]->small) &&
             !reads_tokens(spec->encoder[1]))
        learner->pixels = mem_array(rows, spec->encoder[0]->image);
    learner->z = mem_aligned(rows * d, sizeof(float));
    learner->v = mem_aligned(rows * d, sizeof(float));
    learner->dz = mem_aligned((rows - outside) * d, sizeof(float));
    learner->columns =
        mem_array(loss_objective_states(spec->objective, spec->images) *
                      spec->objective->columns,
                  sizeof(float));
    if (spec->group) {
        learner->sample = mem_array(rows, sizeof *learner->sample);
        learner->group = mem_array(rows, sizeof *learner->group);
    }
    learner->tau = mem_array(2 * spec->images, sizeof *learner->tau);
    if (!spec->objective->by_encoder)
        learner->work = mem_aligned(
            loss_objective_size(spec->objective, &largest), sizeof(float));
    return 0;
}

void
train_learner_close(struct train_learner *learner)
{
    mem_free(learner->z, learner->v, learner->dz, learner->columns,
             learner->work, learner->tau, learner->pixels, learner->table_rows,
             learner->sample, learner->group);
    *learner = (struct train_learner){0};
}

/* -------------------------------------------------------------- schedules */

/* The value of a schedule at the batch's place. */
static double
schedule_value(struct nn_schedule *schedule, const struct batch *batch)
{
    schedule->epochs = (double)batch->epochs;
    return nn_schedule_at(schedule,
                          (double)batch->epoch +
                              (double)batch->step / (double)batch->steps);
}

/* Sets the parameters for a batch and returns the learning rate. */
static double
set_schedules(struct train_learner *learner, const struct batch *batch)
{
    const struct param *own = learner->spec.objective->params;
    struct train_schedules *schedules = &learner->spec.schedules;

    learner->settings = *learner->spec.settings;
    for (size_t i = 0; own[i].name; i++) {
        const double x = schedule_value(&schedules->value[i], batch);
        const int inverse = own[i].schedule == PARAM_INVERSE &&
                            schedules->value[i].kind == NN_SCHEDULE_WAVE;

        learner->settings.value[i] = inverse ? 1 / x : x;
    }
    if (learner->spec.scalars)
        train_scalars_apply(learner->spec.scalars, &learner->settings);
    return schedule_value(&schedules->rate, batch);
}

/* ---------------------------------------------------------- the encoders */

static size_t
anchors_of_batch(const struct train_learner *learner, const struct batch *batch)
{
    return learner->spec.views * batch->b;
}

static size_t
rows_of_batch(const struct train_learner *learner, const struct batch *batch)
{
    return anchors_of_batch(learner, batch) + batch->extra.n;
}

/* The rows of the embedding table for a batch: those of its views, or fixed
 * ones. */
static void
find_table_rows(struct train_learner *learner, const struct batch *batch)
{
    const size_t views = learner->spec.table_views;
    const size_t anchors = anchors_of_batch(learner, batch);
    int32_t *rows = learner->table_rows;

    for (size_t r = 0; r < anchors; r++)
        rows[r] = (int32_t)((size_t)batch->ids[r % batch->b] * views +
                            (batch->fixed ? (size_t)batch->view_of[r]
                                          : r / batch->b));
    for (size_t i = 0; i < batch->extra.n; i++) {
        const int64_t view = batch->extra.view ? batch->extra.view[i] : -1;

        rows[anchors + i] = (int32_t)((size_t)batch->extra.ids[i] * views +
                                      (view > 0 ? (size_t)view % views : 0));
    }
}

/* The images of a batch in one block: views, then small or extra ones. */
static const uint8_t *
images_of(struct train_learner *learner, const struct batch *batch)
{
    const size_t image = learner->spec.encoder[0]->image;
    const size_t small = batch->small.v * batch->b;
    const size_t anchors = (anchors_of_batch(learner, batch) - small) * image;

    if (!batch->extra.n && !small)
        return batch->pixels;
    memcpy(learner->pixels, batch->pixels, anchors);
    if (small)
        memcpy(learner->pixels + anchors, batch->small.pixels,
               small * learner->spec.encoder[0]->small_image);
    if (!batch->extra.n)
        return learner->pixels;
    memcpy(learner->pixels + anchors, batch->extra.pixels,
           batch->extra.n * image);
    return learner->pixels;
}

/* Encodes all rows by one encoder. */
static int
encode_by_one(struct train_learner *learner, const struct batch *batch,
              enum nn_mode mode, struct err *err)
{
    struct nn_input input = {.n = rows_of_batch(learner, batch),
                             .ids = learner->table_rows};

    if (learner->table_rows)
        find_table_rows(learner, batch);
    else
        input.images = images_of(learner, batch);
    return train_encoder_forward(learner->spec.encoder[0], &input, mode,
                                 learner->z, err);
}

/* Encodes each view, or the texts, by its own encoder; extra samples by the
 * second. */
static int
encode_by_two(struct train_learner *learner, const struct batch *batch,
              enum nn_mode mode, struct err *err)
{
    const uint8_t *images = reads_tokens(learner->spec.encoder[1])
                                ? batch->pixels
                                : images_of(learner, batch);

    for (size_t k = 0; k < TRAIN_ENCODERS; k++) {
        struct train_encoder *encoder = learner->spec.encoder[k];
        const struct nn_input input = {.n = batch->b + (k ? batch->extra.n : 0),
                                       .images = images,
                                       .ids = batch->tokens,
                                       .offsets = batch->offsets};

        if (train_encoder_forward(encoder, &input, mode,
                                  learner->z + k * batch->b * learner->dim,
                                  err))
            return -1;
        images += batch->b * encoder->image;
    }
    return 0;
}

static void
find_unit_rows(struct train_learner *learner, const struct batch *batch)
{
    num_unit_rows(rows_of_batch(learner, batch), learner->dim, learner->z,
                  learner->v, NULL);
}

/* Computes z and v of all rows, unless deferred; NN_TRAIN if find_gradients()
 * follows. */
static int
embed_batch(struct train_learner *learner, const struct batch *batch,
            enum nn_mode mode, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;

    REQUIRE(batch->b <= learner->spec.images &&
            batch->extra.n <= learner->spec.extra);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        struct batch own = *batch;

        if (!k && encoder[1])
            own.extra.n = 0; // the second one encodes these
        train_encoder_announce(encoder[k], &own);
    }
    if (encoder[1] ? encode_by_two(learner, batch, mode, err)
                   : encode_by_one(learner, batch, mode, err))
        return -1;
    if (!learner->by_sums)
        find_unit_rows(learner, batch);
    return 0;
}

/* Returns 1 if the objective needs row sums only and the encoders compute them;
 * then the next forward is deferred. */
static int
defer_to_sums(struct train_learner *learner)
{
    struct train_encoder *const *encoder = learner->spec.encoder;

    if (!loss_objective_takes_sums(learner->spec.objective) ||
        learner->spec.views != 2 || !encoder[0]->sums ||
        (encoder[1] && !encoder[1]->sums))
        return 0;
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++)
        train_encoder_defer(encoder[k]);
    return 1;
}

/* Computes z, v, the loss and the coefficients of its gradient, from the row
 * sums of the encoders. */
static int
run_by_sums(struct train_learner *learner, const struct batch *batch,
            const struct loss_batch *loss, struct loss_report *report,
            struct err *err)
{
    const struct train_learner_spec *spec = &learner->spec;
    const struct loss_objective *objective = spec->objective;
    const struct loss_settings *set = &learner->settings;
    const struct train_sums want = {
        .b = loss->b,
        .mask = objective->mask[set->reference],
        .tau_all = set->value[LOSS_TAU],
        .tau = learner->tau,
        .group = loss->group,
    };
    const struct loss_sums *sums;
    float *coefficient;

    loss_objective_temperatures(objective, set, loss, learner->columns,
                                learner->tau);
    if (train_encoder_sums(spec->encoder[0], &want, &sums, &coefficient, err) ||
        (spec->encoder[1] && train_encoder_take(spec->encoder[1], err)))
        return -1;
    find_unit_rows(learner, batch);
    loss_objective_sums(objective, set, loss, learner->v, learner->tau, sums,
                        learner->columns, coefficient, report);
    return 0;
}

/* Returns 1 if all of z is finite. */
static int
is_finite(const struct train_learner *learner, const struct batch *batch)
{
    return num_finite(rows_of_batch(learner, batch) * learner->dim, learner->z);
}

/* Computes the gradient of each encoder from dz; *length is that of all
 * together. */
static int
find_gradients(struct train_learner *learner, const struct batch *batch,
               double rate, double *length, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    void (*prefetch)(void *) = learner->spec.prefetch;
    const int early = encoder[0]->ops->prefetches_early;
    double own;

    if (prefetch && early)
        prefetch(learner->spec.tool);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++)
        if (train_encoder_backward(encoder[k],
                                   learner->encoder_has_dz
                                       ? NULL
                                       : learner->dz +
                                             k * batch->b * learner->dim,
                                   err))
            return -1;
    learner->next.b = 0;
    if (prefetch && !early)
        prefetch(learner->spec.tool);
    if (learner->early)
        train_encoder_update_early(encoder[0], rate,
                                   learner->next.b ? &learner->next : NULL);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        if (train_encoder_norm(encoder[k], &own, err))
            return -1;
        *length = k ? hypot(*length, own) : own;
    }
    return 0;
}

/* --------------------------------------------------------------- one step */

/* The answer of negatives in a step. */
struct exchange {
    struct weights weights;
    int without_service;
};

/* Refuses weights of a row for rows of the same view. */
static int
check_cross(size_t b, const struct weights *weights, struct err *err)
{
    for (size_t r = 0; r < 2 * b; r++)
        for (size_t c = 0; c < b; c++) {
            const size_t own = r / b * b + c;

            if (weights->w[r * weights->columns + own] > 0)
                return err_set(
                    err,
                    "the negatives weigh row %zu for row %zu, of the "
                    "same view: the objective needs weights across "
                    "the views, such as those of foil-negatives "
                    "--method emc2_bimodal",
                    own, r);
        }
    return 1;
}

/* Appends the rows from outside of the batch that negatives weigh. */
static int
take_outside_rows(struct train_learner *learner, const struct batch *batch,
                  const struct weights *weights, struct err *err)
{
    const size_t rows = 2 * batch->b + batch->extra.n;

    if (weights->n_outside > learner->outside)
        return err_set(err,
                       "the negatives weigh %zu rows from outside, want "
                       "%zu at most",
                       weights->n_outside, learner->outside);
    REQUIRE(weights->columns == rows + weights->n_outside);
    if (weights->n_outside)
        memcpy(learner->z + rows * learner->dim, weights->outside,
               weights->n_outside * learner->dim * sizeof *learner->z);
    return 1;
}

/* Adds the extra samples that the negatives draw, if the batch has none. */
static int
draw_extras(struct train_learner *learner, struct batch *batch, struct err *err)
{
    const struct train_negatives *negatives = learner->spec.negatives;

    if (!learner->spec.objective->needs_weights || !negatives->draw ||
        batch->extra.n)
        return 0;
    if (negatives->draw(negatives->self, batch, &batch->extra, err))
        return -1;
    REQUIRE(!batch->extra.n_texts && batch->extra.n <= learner->spec.extra);
    return 0;
}

static int
ask_weights(struct train_learner *learner, struct batch *batch,
            struct exchange *exchange, struct err *err)
{
    const struct train_learner_spec *spec = &learner->spec;
    int rc;

    batch->beta = 1 / learner->settings.value[LOSS_TAU];
    batch->dim = learner->dim;
    batch->z = learner->v;
    batch->extra.z = learner->v + 2 * batch->b * learner->dim;
    rc =
        spec->negatives->weigh(spec->negatives->self, batch, &exchange->weights,
                               &exchange->without_service, err);
    if (rc > 0 && spec->on_weights)
        spec->on_weights(spec->tool, batch, &exchange->weights);
    if (rc > 0 && spec->objective->cross_weights_only)
        rc = check_cross(batch->b, &exchange->weights, err);
    return rc > 0 ? take_outside_rows(learner, batch, &exchange->weights, err)
                  : rc;
}

/* The sample of each row, and its group. */
static void
set_row_ids(struct train_learner *learner, const struct batch *batch,
            struct loss_batch *loss)
{
    const size_t n = anchors_of_batch(learner, batch);

    if (!learner->spec.group)
        return;
    for (size_t r = 0; r < n + batch->extra.n; r++) {
        const int64_t id =
            r < n ? batch->ids[r % batch->b] : batch->extra.ids[r - n];

        learner->sample[r] = id;
        learner->group[r] = learner->spec.group[id];
    }
    loss->sample = learner->sample;
    loss->group = learner->group;
}

/* Returns which part of the step is not finite, without its gradient, or NULL.
 */
static const char *
find_nonfinite(const struct train_learner *learner, const struct batch *batch,
               const struct loss_report *report)
{
    const struct train_learner_spec *spec = &learner->spec;

    if (!isfinite(report->value))
        return "the loss is not finite";
    if (spec->objective->by_encoder && !is_finite(learner, batch))
        return "an embedding is not finite"; // the loss may still be finite
    if (spec->scalars && !train_scalars_finite(spec->scalars, report))
        return "the gradient of a scalar is not finite";
    if (!num_finite(loss_objective_states(spec->objective, batch->b) *
                        spec->objective->columns,
                    learner->columns))
        return "the state of a sample is not finite";
    return NULL;
}

static const char *
find_nonfinite_gradient(const struct train_learner *learner, double gradient)
{
    const struct train_learner_spec *spec = &learner->spec;

    if (!isfinite(gradient))
        return "the gradient is not finite";
    for (size_t k = 0; k < TRAIN_ENCODERS && spec->encoder[k]; k++)
        if (!train_encoder_stats_finite(spec->encoder[k]))
            return "a running statistic is not finite";
    return NULL;
}

/* Returns 1 if the weights after this step belong to their mean. */
static int
is_averaged(const struct train_learner *learner, const struct batch *batch)
{
    const double steps = (double)batch->steps;

    return (double)batch->epoch * steps + (double)batch->step + 1 >
           (1 - learner->spec.average) * ((double)batch->epochs * steps);
}

/* Forward, objective, backward: computes gradients and changes only running
 * statistics.  Returns 1, or ask_weights()'s result. */
static int
find_gradient(struct train_learner *learner, struct batch *batch, double rate,
              struct exchange *exchange, struct loss_report *report,
              double *gradient, struct err *err)
{
    const struct train_learner_spec *spec = &learner->spec;
    struct loss_batch loss = {.b = batch->b,
                              .v = spec->views,
                              .targets = spec->targets,
                              .extra = batch->extra.n,
                              .dim = learner->dim};

    learner->by_sums = defer_to_sums(learner);
    learner->early = 0;
    learner->encoder_has_dz = learner->by_sums || spec->objective->by_encoder;
    if (embed_batch(learner, batch, NN_TRAIN, err))
        return -1;
    if (spec->objective->needs_weights && !is_finite(learner, batch)) {
        report->value = NAN; // do not request weights for them
        return 1;
    }
    if (spec->objective->needs_weights) {
        const int rc = ask_weights(learner, batch, exchange, err);

        if (rc <= 0)
            return rc;
    }
    loss.constant = exchange->weights.n_outside;
    loss.extra += loss.constant;
    loss.weights = exchange->weights.w;
    loss.scale = exchange->weights.scale;
    set_row_ids(learner, batch, &loss);
    train_samples_get(spec->samples, batch, learner->columns);
    if (spec->objective->by_encoder) {
        if (train_encoder_loss(spec->encoder[0], &loss, report, err))
            return -1;
    } else if (learner->by_sums) {
        if (run_by_sums(learner, batch, &loss, report, err))
            return -1;
        learner->early = spec->encoder[0]->late && !spec->encoder[1] &&
                         !is_averaged(learner, batch) &&
                         !find_nonfinite(learner, batch, report);
    } else {
        loss_objective_run(spec->objective, &learner->settings, &loss,
                           learner->z, learner->columns, learner->dz,
                           learner->work, report);
    }
    return find_gradients(learner, batch, rate, gradient, err) ? -1 : 1;
}

/* Reverts what forward changed in the encoders. */
static void
undo_forward(struct train_learner *learner)
{
    const struct train_learner_spec *spec = &learner->spec;

    for (size_t k = 0; k < TRAIN_ENCODERS && spec->encoder[k]; k++)
        train_encoder_undo(spec->encoder[k]);
}

static enum train_outcome
reject_step(struct train_learner *learner)
{
    const struct train_learner_spec *spec = &learner->spec;

    if (!learner->early) // else the encoder has done so
        undo_forward(learner);
    if (spec->objective->needs_weights)
        spec->negatives->undo(spec->negatives->self);
    spec->state->skipped++;
    if (spec->nonfinite == TRAIN_ON_NONFINITE_STOP ||
        ++learner->nonfinite_steps >= TRAIN_MAX_NONFINITE)
        return TRAIN_STOPPED;
    return spec->nonfinite == TRAIN_ON_NONFINITE_SKIP ? TRAIN_SKIPPED
                                                      : TRAIN_ROLLBACK;
}

static enum train_outcome
apply_step(struct train_learner *learner, const struct batch *batch,
           double rate, const struct exchange *exchange,
           const struct loss_report *report, struct err *err)
{
    const struct train_learner_spec *spec = &learner->spec;
    struct train_state *state = spec->state;
    const int averaged = is_averaged(learner, batch);

    for (size_t k = 0;
         k < TRAIN_ENCODERS && spec->encoder[k] && !learner->early; k++)
        if (train_encoder_update(spec->encoder[k], rate, err) ||
            (averaged && train_encoder_average(spec->encoder[k], err)))
            return TRAIN_FAILED;
    if (spec->scalars)
        train_scalars_update(spec->scalars, report, rate);
    train_samples_put(spec->samples, batch, learner->columns);
    sample_store_write(&spec->samples->store, exchange->weights.sampler,
                       exchange->weights.n_tables, exchange->weights.tables);
    learner->nonfinite_steps = 0;
    state->images += (int64_t)batch->b;
    state->substituted += (int64_t)batch->n_substituted;
    state->steps_without_service += exchange->without_service;
    return TRAIN_APPLIED;
}

static void
advance_state(struct train_state *state, const struct batch *batch)
{
    state->steps = batch->steps;
    state->epochs = batch->epochs;
    state->step++;
    if (state->step == batch->steps) {
        state->step = 0;
        state->epoch++;
    }
}

/* Adds a number, unless the program of the objective reports one by that
 * name. */
static void
add_unless_reported(struct values *values, const char *name, double x)
{
    if (isnan(value_find(values->value, values->n, name)))
        values_add(values, name, x);
}

/* The values of an applied step. */
static void
list_values(const struct train_learner *learner, double gradient, double rate,
            const struct exchange *exchange, struct train_result *result)
{
    const struct param *own = learner->spec.objective->params;
    const struct train_schedules *schedules = &learner->spec.schedules;
    const struct loss_report *loss = &result->loss;
    const struct loss_share *share = &loss->share;
    struct values *values = &result->values;

    values_add(values, "loss", loss->value);
    if (!learner->spec.objective->by_encoder) {
        values_add(values, "infonce", loss->infonce);
        values_add(values, "positive", loss->positive);
        values_add(values, "cosine", loss->cosine);
        values_add(values, "deviation", loss->deviation);
    }
    if (share->all > 0) { // the anchor's class
        values_add(values, "same_class_weight",
                   share->same_group_weight / share->all);
        values_add(values, "same_class_share",
                   (double)share->same_group / (double)share->negatives);
    }
    values_join(values, &loss->more);
    add_unless_reported(values, "grad_norm", gradient);
    add_unless_reported(values, "lr", rate);
    for (size_t i = 0; own[i].name; i++)
        if (i == LOSS_TAU || schedules->value[i].kind != NN_SCHEDULE_CONSTANT)
            values_add(values, own[i].name, learner->settings.value[i]);
    if (exchange->without_service) {
        values_add_count(values, "without_service", 1);
    } else if (learner->spec.objective->needs_weights) {
        values_add(values, "accepted", exchange->weights.accepted);
        values_add_count(values, "moved", (int64_t)exchange->weights.moved);
        values_join(values, &exchange->weights.values);
    }
}

enum train_outcome
train_learner_step(struct train_learner *learner, const struct batch *batch,
                   struct train_result *result, struct err *err)
{
    const double start = clock_now(), rate = set_schedules(learner, batch);
    struct batch full = *batch;
    struct exchange exchange = {0};
    double gradient = 0;
    int rc;

    full.v = learner->spec.views;
    *result = (struct train_result){.outcome = TRAIN_FAILED};
    rc = draw_extras(learner, &full, err);
    if (!rc) {
        rc = find_gradient(learner, &full, rate, &exchange, &result->loss,
                           &gradient, err);
        if (rc <= 0)
            undo_forward(learner);
    }
    if (rc > 0) {
        result->reason = find_nonfinite(learner, &full, &result->loss);
        if (!result->reason)
            result->reason = find_nonfinite_gradient(learner, gradient);
        result->outcome = result->reason
                              ? reject_step(learner)
                              : apply_step(learner, &full, rate, &exchange,
                                           &result->loss, err);
    } else if (!rc) {
        result->outcome = TRAIN_INTERRUPTED;
    }
    if (result->outcome == TRAIN_APPLIED)
        list_values(learner, gradient, rate, &exchange, result);
    if (rc > 0 && result->outcome != TRAIN_STOPPED &&
        result->outcome != TRAIN_FAILED) {
        train_samples_quarantine(learner->spec.samples, &full);
        learner->spec.state->total++;
        advance_state(learner->spec.state, &full);
    }
    result->seconds = clock_now() - start;
    return result->outcome;
}

int
train_learner_encode(struct train_learner *learner, const struct batch *batch,
                     struct err *err)
{
    learner->by_sums = 0;
    if (embed_batch(learner, batch, NN_ENCODE, err))
        return -1;
    advance_state(learner->spec.state, batch);
    return is_finite(learner, batch);
}

void
train_learner_prefetch(struct train_learner *learner, const struct batch *batch)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    const uint8_t *images = batch->pixels;

    if (learner->table_rows || batch->b > learner->spec.images ||
        ((batch->extra.n || batch->small.v) && !reads_tokens(encoder[1])))
        return;
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        const struct nn_input input = {
            .n = encoder[1] ? batch->b : anchors_of_batch(learner, batch),
            .images = images};

        if (encoder[k]->kind == NN_IMAGES)
            train_encoder_prefetch(encoder[k], &input);
        learner->next = *batch;
        images += batch->b * encoder[k]->image;
    }
}
