#include <stdlib.h>

#include "nn/checkpoint.h"
#include "num/dnn.h"
#include "num/threads.h"
#include "train.h"
#include "train/process.h"
#include "train/shards.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"

/* Checks and sets what follows from the options. */
static int
prepare_run(struct train *t, struct err *err)
{
    struct train_options *o = t->options;

    if (train_check(o, err))
        return -1;
    t->objective = train_find_objective(o->objective, err);
    o->threads = num_threads((int)o->threads);
    return train_shards_check((size_t)o->shards, t->ranks ? t->ranks->size : 1,
                              err);
}

static int
open_learner(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    struct train_learner_spec spec = {
        .objective = t->objective,
        .settings = &o->loss,
        .encoder = {&t->encoder, o->text ? &t->text_encoder : NULL},
        .table_views = nn_encoder_reads(o->arch, NN_IDS) ? t->shape.views : 0,
        .images = t->shape.images,
        .views = t->shape.per_image,
        .targets = (size_t)o->targets,
        .extra = t->shape.extra,
        .samples = &t->samples,
        .scalars = &t->scalars,
        .state = &t->state,
        .negatives = &t->negatives,
        .group = t->labels,
        .average = o->average,
        .nonfinite = o->nonfinite,
        .prefetch = t->program || t->ranks ? train_prefetch_next : NULL,
        .on_weights = train_top_negatives_take,
        .tool = t,
    };

    if (o->sampler == TRAIN_SERVICE) {
        t->negatives = train_service_negatives(t);
    } else {
        struct sample_settings settings;

        if (train_sample_settings(o, t->objective, &settings, err))
            return -1;
        train_local_sampler_init(&t->local, &t->samples, &settings,
                                 train_draws_outside(o));
        t->negatives = train_local_sampler_negatives(&t->local);
    }
    return train_schedules_check(o, &spec.schedules, err)
               ? -1
               : train_learner_open(&t->learner, &spec, err);
}

static int
build_encoders(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const size_t size = (size_t)t->shape.size;
    struct train_encoder_spec spec;

    if (o->labels &&
        !(t->labels = train_labels_read(o->labels, &t->shape, err)))
        return -1;
    if (train_encoders_open(t, err) ||
        train_encoder_spec(o, &t->shape, 0, &spec, err) ||
        train_scalars_open(&t->scalars, t->objective, &o->loss, &spec.optim,
                           err) ||
        train_basis_set(&t->basis, &t->encoder, err))
        return -1;
    if (o->text) {
        train_checkpoints_add(&t->checkpoints,
                              train_encoder_part(&t->text_encoder));
        train_checkpoints_add(&t->checkpoints, train_texts_part(&t->texts));
    }
    train_samples_init(&t->samples, t->objective, size, t->shape.captions,
                       &t->state);
    t->samples.store.most = (size_t)o->max_state << 30;
    if (o->keep_features)
        train_history_init(&t->history, size, t->encoder.dim,
                           (size_t)o->keep_features);
    return open_learner(t, err);
}

static int
begin_new(struct train *t, struct err *err)
{
    if (prepare_run(t, err) || train_init_find(&t->options->init, err) ||
        train_basis_read(&t->basis, t->options->basis, err) ||
        train_rows_width(t->options->arch, t->options->rows, &t->shape.basis,
                         err) ||
        (train_has_captions(t->options) &&
         train_texts_read(&t->texts, t->options->vocabulary,
                          &t->shape.vocabulary, err)))
        return -1;
    if (t->basis.n)
        t->shape.basis = t->basis.n;
    return 0;
}

/* Adds to the error of a damaged checkpoint how to resume without it. */
static int
add_resume_hint(const char *run, const char *folder, struct err *err)
{
    struct err damage = *err, ignored;
    size_t n;
    long *step = nn_checkpoint_steps(run, &n, &ignored);

    if (step && n > 1)
        err_set(err, "%.200s: 'rm -r %s' and --resume continue after step %ld",
                damage.msg, folder, step[n - 2]);
    else
        err_set(err,
                "%.200s: there is no other checkpoint, so start again in "
                "another -r",
                damage.msg);
    free(step);
    return -1;
}

static int
resume_run(struct train *t, const char *folder, struct err *err)
{
    char *table;
    int rc;

    if (nn_checkpoint_verify(folder, err))
        return add_resume_hint(t->options->stage.run, folder, err);
    t->config = nn_checkpoint_config(folder, err);
    if (!t->config ||
        train_options_take(json_object_get(t->config, "options"), err) ||
        train_config_get(t->config, &t->shape, &t->state, err) ||
        train_config_check_processor(t->config, train_overridden, err) ||
        prepare_run(t, err) ||
        (train_has_captions(t->options) &&
         train_texts_read(&t->texts, mem_temp("%s/vocabulary.txt", folder),
                          &t->shape.vocabulary, err)) ||
        build_encoders(t, err))
        return -1;
    table = train_encoder_table(&t->encoder);
    rc = train_config_check_table(t->config, table, train_overridden, err);
    if (!rc)
        rc = train_checkpoints_load(&t->checkpoints, folder, t->state.total,
                                    err);
    free(table);
    return rc;
}

int
train_begin(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const char *run = o->stage.run;
    char *newest = NULL;
    int rc, found;

    if (file_mkdir(run, 0700, err))
        return -1;
    rc = lock_take(mem_temp("%s/lock", run), err); // until the process ends
    if (rc <= 0)
        return rc ? rc : err_set(err, "another foil-train has '%s'", run);
    rc = -1;
    found = nn_checkpoint_find(run, &newest, err);
    if (found > 0 && !t->options->resume) {
        err_set(err,
                "'%s' holds a run: --resume continues it, another -r "
                "starts a new one",
                run);
    } else if (found > 0) {
        rc = resume_run(t, newest, err);
    } else if (!found) {
        if (t->options->resume)
            log_message("'%s' has no checkpoint yet: starting a new run", run);
        rc = begin_new(t, err);
    }
    if (!rc && o->chosen && o->bf16)
        log_message("--precision auto: bf16");
    else if (!rc && o->chosen)
        log_message(
            "--precision auto: f32, for %s",
            num_dnn_bf16_faster()
                ? "these encoders have no bf16"
                : "this processor has no instruction for bf16 (AVX512-BF16)");
    if (!rc) // the tool may have been killed during a save
        train_tidy(t);
    free(newest);
    return rc ? rc : train_session(t, err);
}

int
train_build(struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct train_options *o = t->options;

    const double epochs = (double)b->batch.epochs;

    if (!t->state.total && o->warmup > epochs)
        return err_set(err,
                       "--warmup is %g epochs and the run has %g, so the rate "
                       "would never reach --lr: use a tenth of them, --warmup "
                       "%g",
                       o->warmup, epochs, epochs / 10);
    if (!t->encoder.ops) { // the first batch that came may be of a later epoch
        t->shape.height = b->height;
        t->shape.width = b->width;
    }
    if (!t->encoder.ops &&
        (build_encoders(t, err) || train_rows_read(&t->encoder, o->rows, err) ||
         train_init_read(&t->encoder, 0, &o->init, err) ||
         (o->text && train_init_read(&t->text_encoder, 1, &o->init, err))))
        return -1;
    if (train_service_open(t, err))
        return -1;
    train_journal_begin(&t->journal,
                        o->steps ? o->steps : b->batch.epochs * b->batch.steps);
    log_message(
        "%s%s%s of %zu parameters, %ld thread%s; up to %ld batches of %zu "
        "images wait, %.1f MB each",
        o->arch, o->text ? " and " : "", o->text ? o->text : "",
        t->encoder.parameters + t->text_encoder.parameters, o->threads,
        plural((size_t)o->threads), o->window, t->shape.images,
        (double)wire_msg_bytes(b->msg) * 1e-6);
    train_cost_print(t, b, t->journal.progress.total - (double)t->state.total);
    return 0;
}

/* ------------------------------------------------- --list and --dry-run */

static void
print_objectives(void)
{
    for (size_t i = 0; loss_objectives[i]; i++) {
        const struct loss_objective *o = loss_objectives[i];
        json_t *state = json_array();

        for (size_t k = 0; k < o->columns; k++)
            json_array_append_new(state, json_string(o->column[k]));
        json_print(json_pack(
            "{s:s, s:s, s:s?, s:b, s:b, s:o, s:o, s:s}", "name", o->name,
            "summary", o->summary, "negatives", o->needs_weights, "outside",
            o->needs_outside, "inside", o->draws_inside, "state", state,
            "defaults", param_list(o->params), "head", o->head));
    }
}

/* Checks what train_begin() checks, and writes nothing. */
static int
check_begin(struct train *t, struct err *err)
{
    const char *run = t->options->stage.run;
    char *newest = NULL;
    struct lock lock;
    int rc = lock_look(mem_temp("%s/lock", run), &lock, err);

    if (rc)
        return rc;
    if (lock.held)
        return err_set(err, "another foil-train has '%s'", run);
    rc = file_exists(run) ? nn_checkpoint_find(run, &newest, err) : 0;
    if (rc > 0 && !t->options->resume)
        rc = err_set(err, "'%s' holds a run: --resume continues it", run);
    else if (rc >= 0)
        rc = newest ? resume_run(t, newest, err) : prepare_run(t, err);
    free(newest);
    return rc;
}

void
train_print_plan(struct train *t)
{
    const struct train_options *o = t->options;
    const struct train_state *s = &t->state;
    const char *method;
    struct err err;

    if (o->list >= 0) {
        print_objectives();
        return;
    }
    or_die(check_begin(t, &err), &err);
    method = o->sampler == TRAIN_SERVICE ? t->objective->needs_weights : NULL;
    json_print(json_pack(
        "{s:s, s:s, s:s?, s:b, s:I, s:I, s:I, s:I, s:b}", "objective",
        o->objective, "precision", o->bf16 ? "bf16" : "f32", "negatives",
        method, "outside", method && t->objective->needs_outside, "views",
        (json_int_t)train_views_wanted(o), "epoch", (json_int_t)s->epoch,
        "step", (json_int_t)s->step, "total", (json_int_t)s->total, "enough",
        o->steps && s->total >= o->steps));
}
