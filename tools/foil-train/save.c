#include <stdlib.h>

#include "train.h"
#include "util/mem.h"

static int
save_config(void *self, const char *folder, struct err *err)
{
    struct train *t = self;
    char *table = train_encoder_table(&t->encoder);
    struct train_config config = {
        .table = table, .shape = &t->shape, .state = &t->state};
    struct nn_spec spec, text;
    int rc = -1;

    if (train_spec(t->options, &t->shape, 0, &spec, err) ||
        (t->options->text && train_spec(t->options, &t->shape, 1, &text, err)))
        goto out;
    config.encoder = &spec;
    config.text = t->options->text ? &text : NULL;
    config.options = train_options_put();
    rc = train_config_save(&config, folder, err);
    json_decref(config.options);

out:
    free(table);
    return rc;
}

void
train_save_open(struct train *t)
{
    struct train_checkpoints *checkpoints = &t->checkpoints;
    const struct train_part config = {.self = t, .save = save_config};
    const struct train_part batches = {.self = &t->batches,
                                       .prepare = run_batches_sync};

    train_checkpoints_init(checkpoints, t->options->stage.run,
                           t->options->keep);
    train_checkpoints_add(checkpoints, train_journal_part(&t->journal));
    train_checkpoints_add(checkpoints, batches);
    train_checkpoints_add(checkpoints, config);
    train_checkpoints_add(checkpoints, train_encoder_part(&t->encoder));
    train_checkpoints_add(checkpoints, train_scalars_part(&t->scalars));
    train_checkpoints_add(checkpoints, train_samples_part(&t->samples));
    train_checkpoints_add(checkpoints, train_history_part(&t->history));
}

void
train_tidy(struct train *t)
{
    struct err why;

    if (train_checkpoints_tidy(&t->checkpoints, &why))
        log_message("%s", why.msg);
}

/* Reports the pending checkpoint, if it is complete or has failed. */
static int
finish_save(struct train *t, int wait, struct err *err)
{
    const int rc = train_checkpoints_finish(&t->checkpoints, wait, err);

    if (rc <= 0)
        return rc;
    train_report_event(t, "checkpoint",
                       mem_temp("%s/step-%08jd", t->options->stage.run,
                                (intmax_t)t->checkpoints.saved),
                       "");
    train_tidy(t);
    return 0;
}

void
train_save_finish(struct train *t, int wait)
{
    const int64_t step = t->checkpoints.pending;
    struct err err;

    if (finish_save(t, wait, &err))
        log_message("no checkpoint at step %jd: %s", (intmax_t)step, err.msg);
}

static int
begin_save(struct train *t, struct err *err)
{
    int rc;

    train_save_finish(t, 1);
    stage_io_unlock(&t->io);
    rc = train_checkpoints_begin(&t->checkpoints, t->state.total, err);
    stage_io_lock(&t->io);
    return rc;
}

int
train_save(struct train *t, struct err *err)
{
    return begin_save(t, err) ? -1 : finish_save(t, 1, err);
}

void
train_save_if_due(struct train *t)
{
    const long every = t->options->every, epochs = t->options->every_epochs;
    const struct train_state *s = &t->state;
    struct err err;

    train_save_finish(t, 0);
    if (((every && s->total % every == 0) ||
         (epochs && s->step == 0 && s->epoch % epochs == 0)) &&
        begin_save(t, &err))
        log_message("no checkpoint at step %jd: %s", (intmax_t)t->state.total,
                    err.msg);
}
