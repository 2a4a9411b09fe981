#ifndef TRAIN_PART_H
#define TRAIN_PART_H

#include "util/err.h"

/*
 * A part of a checkpoint (train/checkpoints.h): an object that keeps something
 * of a run says how it is written and read.  The functions return 0 or -1.
 */
struct train_part {
    const char *name;
    void *self; /* first argument of each; any function may be NULL */

    /* Before anything is written: work and checks that have to come first. */
    int (*prepare)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);

    /* load() of a run that begins where a checkpoint ends; revert() to the
     * last checkpoint in the midst of a run: a part without it stays as it
     * is. */
    int (*load)(void *self, const char *folder, struct err *err);
    int (*revert)(void *self, const char *folder, struct err *err);
};

#endif
