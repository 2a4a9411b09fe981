#include <errno.h>
#include <stdlib.h>

#include "nn/checkpoint.h"
#include "train/checkpoints.h"
#include "util/stop.h"

void
train_checkpoints_init(struct train_checkpoints *checkpoints, const char *run,
                       long keep)
{
    *checkpoints = (struct train_checkpoints){
        .run = run, .keep = keep, .saved = -1, .pending = -1};
}

void
train_checkpoints_add(struct train_checkpoints *checkpoints,
                      struct train_part part)
{
    REQUIRE(checkpoints->n < TRAIN_PARTS);
    checkpoints->part[checkpoints->n++] = part;
}

static void *
commit_pending(void *data)
{
    struct train_checkpoints *checkpoints = data;

    checkpoints->rc = nn_checkpoint_commit(
        checkpoints->run, (long)checkpoints->pending, &checkpoints->err);
    atomic_store(&checkpoints->done, 1);
    return NULL;
}

int
train_checkpoints_begin(struct train_checkpoints *checkpoints, int64_t step,
                        struct err *err)
{
    const char *run = checkpoints->run;
    char *folder;
    int rc = 0;

    REQUIRE(checkpoints->pending < 0);
    if (checkpoints->lost)
        return err_set(err,
                       "the rollback to the last checkpoint failed, so there "
                       "is nothing to save");
    for (size_t i = 0; i < checkpoints->n; i++) {
        const struct train_part *part = &checkpoints->part[i];

        if (part->prepare && part->prepare(part->self, err))
            return -1;
    }
    folder = nn_checkpoint_begin(run, (long)step, err);
    if (!folder)
        return -1;
    for (size_t i = 0; i < checkpoints->n && !rc; i++) {
        const struct train_part *part = &checkpoints->part[i];

        rc = part->save ? part->save(part->self, folder, err) : 0;
    }
    free(folder);
    if (!rc) {
        checkpoints->pending = step;
        atomic_store(&checkpoints->done, 0);
        errno = stop_create_thread(&checkpoints->thread, commit_pending,
                                   checkpoints);
        rc = errno ? err_sys(err, "cannot start a thread to save") : 0;
    }
    if (rc) {
        checkpoints->pending = -1;
        nn_checkpoint_abort(run, (long)step);
    }
    return rc;
}

int
train_checkpoints_finish(struct train_checkpoints *checkpoints, int wait,
                         struct err *err)
{
    const int64_t step = checkpoints->pending;

    if (step < 0 || (!wait && !atomic_load(&checkpoints->done)))
        return 0;
    pthread_join(checkpoints->thread, NULL);
    checkpoints->pending = -1;
    if (checkpoints->rc) {
        *err = checkpoints->err;
        return -1;
    }
    checkpoints->saved = step;
    return 1;
}

int
train_checkpoints_tidy(const struct train_checkpoints *checkpoints,
                       struct err *err)
{
    const char *run = checkpoints->run;
    struct err why;

    if (nn_checkpoint_link(run, &why)) // nor may what it shows be removed
        return err_set(err,
                       "'%s/latest' is out of date until the next save: %s",
                       run, why.msg);
    if (nn_checkpoint_tidy(run, checkpoints->keep, &why))
        return err_set(
            err, "an old checkpoint is not removed until the next save: %s",
            why.msg);
    return 0;
}

int
train_checkpoints_load(struct train_checkpoints *checkpoints,
                       const char *folder, int64_t step, struct err *err)
{
    for (size_t i = 0; i < checkpoints->n; i++) {
        const struct train_part *part = &checkpoints->part[i];

        if (part->load && part->load(part->self, folder, err))
            return -1;
    }
    checkpoints->saved = step;
    return 0;
}

int
train_checkpoints_rollback(struct train_checkpoints *checkpoints,
                           struct err *err)
{
    char *folder = nn_checkpoint_need(checkpoints->run, err);
    int rc = folder ? nn_checkpoint_verify(folder, err) : -1;

    for (size_t i = 0; i < checkpoints->n && !rc; i++) {
        const struct train_part *part = &checkpoints->part[i];

        rc = part->revert ? part->revert(part->self, folder, err) : 0;
    }
    free(folder);
    checkpoints->lost = rc != 0;
    return rc;
}
