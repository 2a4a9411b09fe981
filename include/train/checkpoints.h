#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* A part of a checkpoint: the functions that write and
 * read an object with state of a run.  They return 0 or -1. */
struct train_part {
    void *self; /* first argument of each; any function may be NULL */

    /* Called before anything is written, for work and checks. */
    int (*prepare)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);

    /* load() is called when a run is resumed from a checkpoint, revert() when
     * it rolls back to its last one; without revert() a part is not changed. */
    int (*load)(void *self, const char *folder, struct err *err);
    int (*revert)(void *self, const char *folder, struct err *err);
};

/* Checkpoints of a run: a list of parts.  Each part writes and reads its own
 * files in the folder of a checkpoint.  That folder is complete or does not
 * exist (nn/checkpoint.h).  Not for two threads at once. */
enum { TRAIN_PARTS = 10 };

struct train_checkpoints {
    const char *run; /* directory */
    long keep;       /* checkpoints to keep, >= 2 */
    int64_t saved;   /* step of the checkpoint that was committed or loaded
                        last, or -1 */
    int lost;        /* a rollback failed: the parts are undefined */
    size_t n;
    struct train_part part[TRAIN_PARTS];

    /* The checkpoint that a thread completes. */
    int64_t pending; /* its step, or -1 */
    pthread_t thread;
    atomic_int done; /* 1: rc and err are valid */
    int rc;
    struct err err;
};

/* train_checkpoints_init() begins without parts; run must outlive it. */
void train_checkpoints_init(struct train_checkpoints *checkpoints,
                            const char *run, long keep);

/* train_checkpoints_add() appends a part; more than TRAIN_PARTS are a bug. */
void train_checkpoints_add(struct train_checkpoints *checkpoints,
                           struct train_part part);

/*
 * train_checkpoints_begin() saves all parts, in their order, to the files of a
 * new checkpoint of that step; a thread then computes their digests, syncs,
 * verifies and renames the folder, while training continues.  On error there is
 * no new checkpoint, and older ones are unchanged.  It always fails after a
 * failed train_checkpoints_rollback().  No other checkpoint may be pending.
 */
int train_checkpoints_begin(struct train_checkpoints *checkpoints, int64_t step,
                            struct err *err);

/*
 * train_checkpoints_finish() returns 1 if the pending checkpoint is complete,
 * which is then `saved`, 0 if none is pending or, without `wait`, if it is not
 * complete yet, and -1 if it failed: there is no such checkpoint.  Call
 * train_checkpoints_tidy() after 1.
 */
int train_checkpoints_finish(struct train_checkpoints *checkpoints, int wait,
                             struct err *err);

/* train_checkpoints_tidy() points `latest` to the newest checkpoint and removes
 * others as nn_checkpoint_tidy() does.  Returns -1 with the reason if that
 * fails; the run may continue, and the next call tries again. */
int train_checkpoints_tidy(const struct train_checkpoints *checkpoints,
                           struct err *err);

/* train_checkpoints_load() loads all parts from a verified folder of that step.
 * After an error the parts are undefined. */
int train_checkpoints_load(struct train_checkpoints *checkpoints,
                           const char *folder, int64_t step, struct err *err);

/* train_checkpoints_rollback() verifies the newest checkpoint and reverts the
 * parts to it; none may be pending.  After an error the parts are undefined and
 * must not be saved. */
int train_checkpoints_rollback(struct train_checkpoints *checkpoints,
                               struct err *err);
