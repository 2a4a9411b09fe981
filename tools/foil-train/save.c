#include <stdlib.h>

#include "nn/checkpoint.h"
#include "train.h"
#include "util/mem.h"

static int
save_config(void *self, const char *folder, struct err *err)
{
    struct train *t = self;
    struct train_config config = {
        .net = t->encoder.net, .shape = &t->shape, .state = &t->state};
    struct nn_spec spec;
    int rc;

    if (train_spec(t->options, &t->shape, &spec, err))
        return -1;
    config.encoder = &spec;
    config.options = train_options_put();
    rc = train_config_save(&config, folder, err);
    json_decref(config.options);
    return rc;
}

void
train_save_open(struct train *t)
{
    struct train_snapshot *snapshot = &t->snapshot;
    const struct train_part config = {
        .name = "config", .self = t, .save = save_config};

    train_snapshot_init(snapshot, t->options->run, t->options->keep);
    train_snapshot_add(snapshot, train_journal_part(&t->journal));
    train_snapshot_add(snapshot, config);
    train_snapshot_add(snapshot, train_encoder_part(&t->encoder));
    train_snapshot_add(snapshot, train_samples_part(&t->samples));
    train_snapshot_add(snapshot, train_history_part(&t->features.history));
}

void
train_tidy(struct train *t)
{
    struct err why;

    if (train_snapshot_tidy(&t->snapshot, &why))
        train_report_say(t, "%s", why.msg);
}

int
train_save(struct train *t, struct err *err)
{
    char *folder;

    if (train_snapshot_commit(&t->snapshot, t->state.total, err))
        return -1;
    folder =
        mem_format("%s/step-%08jd", t->options->run, (intmax_t)t->state.total);
    train_report_event(t, "checkpoint", folder, "");
    free(folder);
    train_tidy(t);
    return 0;
}

int
train_resume(struct train *t, const char *folder, struct err *err)
{
    if (nn_checkpoint_verify(folder, err))
        return -1;
    t->config = train_config_read(folder, err);
    if (!t->config ||
        train_options_take(json_object_get(t->config, "options"), err) ||
        train_config_get(t->config, &t->shape, &t->state, err) ||
        train_prepare(t, err) || train_net_open(t, err) ||
        train_config_check_engine(t->config, t->encoder.net, train_overridden,
                                  err))
        return -1;
    return train_snapshot_load(&t->snapshot, folder, t->state.total, err);
}
