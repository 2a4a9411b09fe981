#ifndef TRAIN_CHECKPOINTS_H
#define TRAIN_CHECKPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "train/part.h"

/*
 * Checkpoints of a run: a list of parts, each of which writes and reads its own
 * files in the folder of a checkpoint.  That folder is whole or not there
 * (nn/checkpoint.h).  Not for two threads at once.
 */
enum { TRAIN_PARTS = 10 };

struct train_checkpoints {
    const char *run; /* directory */
    long keep;       /* checkpoints that stay, >= 2 */
    int64_t saved;   /* step of the last that was committed or loaded, or -1 */
    int lost;        /* going back has failed: the parts are undefined */
    size_t n;
    struct train_part part[TRAIN_PARTS];
};

/* train_checkpoints_init() begins without parts; run must stay. */
void train_checkpoints_init(struct train_checkpoints *checkpoints,
                            const char *run, long keep);

/* train_checkpoints_add() appends a part; more than TRAIN_PARTS are a bug. */
void train_checkpoints_add(struct train_checkpoints *checkpoints,
                           struct train_part part);

/*
 * train_checkpoints_commit() makes a checkpoint of that step out of all parts,
 * in their order.  On error none is made, and older ones stay as they were;
 * after a failed train_checkpoints_rollback() it is always an error.  Call
 * train_checkpoints_tidy() after it.
 */
int train_checkpoints_commit(struct train_checkpoints *checkpoints,
                             int64_t step, struct err *err);

/*
 * train_checkpoints_tidy() points `latest` to the newest checkpoint and removes
 * others as nn_checkpoint_tidy() does.  -1 with the reason where that cannot be
 * done; the run may go on, and the next call tries again.
 */
int train_checkpoints_tidy(const struct train_checkpoints *checkpoints,
                           struct err *err);

/* train_checkpoints_load() loads all parts out of a folder that is verified
 * already, of that step.  After an error they are undefined. */
int train_checkpoints_load(struct train_checkpoints *checkpoints,
                           const char *folder, int64_t step, struct err *err);

/* train_checkpoints_rollback() verifies the newest checkpoint and takes the
 * parts back to it.  After an error they are undefined, and not to be saved. */
int train_checkpoints_rollback(struct train_checkpoints *checkpoints,
                               struct err *err);

#endif
