#include <stdlib.h>

#include "nn/checkpoint.h"
#include "train/snapshot.h"

void
train_snapshot_init(struct train_snapshot *snapshot, const char *run, long keep)
{
    *snapshot = (struct train_snapshot){.run = run, .keep = keep, .saved = -1};
}

void
train_snapshot_add(struct train_snapshot *snapshot, struct train_part part)
{
    REQUIRE(snapshot->n < TRAIN_PARTS);
    snapshot->part[snapshot->n++] = part;
}

static int
save(const struct train_snapshot *snapshot, const char *folder, struct err *err)
{
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct train_part *part = &snapshot->part[i];

        if (part->save && part->save(part->self, folder, err))
            return -1;
    }
    return 0;
}

int
train_snapshot_commit(struct train_snapshot *snapshot, int64_t step,
                      struct err *err)
{
    const char *run = snapshot->run;
    char *folder;
    int rc;

    if (snapshot->lost)
        return err_set(err, "going back to the last checkpoint has failed, and "
                            "left nothing that could be saved");
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct train_part *part = &snapshot->part[i];

        if (part->prepare && part->prepare(part->self, err))
            return -1;
    }
    folder = nn_checkpoint_begin(run, (long)step, err);
    if (!folder)
        return -1;
    rc = save(snapshot, folder, err);
    free(folder);
    if (rc) {
        nn_checkpoint_abort(run, (long)step);
        return -1;
    }
    if (nn_checkpoint_commit(run, (long)step, err))
        return -1;
    snapshot->saved = step;
    return 0;
}

int
train_snapshot_tidy(const struct train_snapshot *snapshot, struct err *err)
{
    const char *run = snapshot->run;
    struct err why;

    if (nn_checkpoint_link(run, &why)) // nor may what it shows be removed
        return err_set(err, "'%s/latest' stays behind until the next save: %s",
                       run, why.msg);
    if (nn_checkpoint_tidy(run, snapshot->keep, &why))
        return err_set(err, "an old checkpoint stays until the next save: %s",
                       why.msg);
    return 0;
}

int
train_snapshot_load(struct train_snapshot *snapshot, const char *folder,
                    int64_t step, struct err *err)
{
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct train_part *part = &snapshot->part[i];

        if (part->load && part->load(part->self, folder, err))
            return -1;
    }
    snapshot->saved = step;
    return 0;
}

int
train_snapshot_rollback(struct train_snapshot *snapshot, struct err *err)
{
    char *folder = nn_checkpoint_need(snapshot->run, err);
    int rc = folder ? nn_checkpoint_verify(folder, err) : -1;

    for (size_t i = 0; i < snapshot->n && !rc; i++) {
        const struct train_part *part = &snapshot->part[i];

        rc = part->revert ? part->revert(part->self, folder, err) : 0;
    }
    free(folder);
    snapshot->lost = rc != 0;
    return rc;
}
