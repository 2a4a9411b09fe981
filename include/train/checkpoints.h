#ifndef TRAIN_CHECKPOINTS_H
#define TRAIN_CHECKPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "train/part.h"

/*
 * Checkpoints of a run: a list of parts.  Each part writes and reads its own
 * files in the folder of a checkpoint.  That folder is complete or does not
 * exist (nn/checkpoint.h).  Not for two threads at once.
 */
enum { TRAIN_PARTS = 10 };

struct train_checkpoints {
    const char *run; /* directory */
    long keep;       /* checkpoints to keep, >= 2 */
    int64_t saved;   /* step of the checkpoint that was committed or loaded
                        last, or -1 */
    int lost;        /* a rollback failed: the parts are undefined */
    size_t n;
    struct train_part part[TRAIN_PARTS];
};

/* train_checkpoints_init() begins without parts; run must outlive it. */
void train_checkpoints_init(struct train_checkpoints *checkpoints,
                            const char *run, long keep);

/* train_checkpoints_add() appends a part; more than TRAIN_PARTS are a bug. */
void train_checkpoints_add(struct train_checkpoints *checkpoints,
                           struct train_part part);

/*
 * train_checkpoints_commit() saves all parts, in their order, as the checkpoint
 * of that step.  On error there is no new checkpoint, and older ones are
 * unchanged.  It always fails after a failed train_checkpoints_rollback().
 * Call train_checkpoints_tidy() after it.
 */
int train_checkpoints_commit(struct train_checkpoints *checkpoints,
                             int64_t step, struct err *err);

/*
 * train_checkpoints_tidy() points `latest` to the newest checkpoint and removes
 * others as nn_checkpoint_tidy() does.  Returns -1 with the reason if that
 * fails; the run may continue, and the next call tries again.
 */
int train_checkpoints_tidy(const struct train_checkpoints *checkpoints,
                           struct err *err);

/* train_checkpoints_load() loads all parts from a verified folder of that step.
 * After an error the parts are undefined. */
int train_checkpoints_load(struct train_checkpoints *checkpoints,
                           const char *folder, int64_t step, struct err *err);

/* train_checkpoints_rollback() verifies the newest checkpoint and reverts the
 * parts to it.  After an error the parts are undefined and must not be saved.
 * */
int train_checkpoints_rollback(struct train_checkpoints *checkpoints,
                               struct err *err);

#endif
