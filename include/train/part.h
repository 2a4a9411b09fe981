#ifndef TRAIN_PART_H
#define TRAIN_PART_H

#include "util/err.h"

/*
 * A part of a checkpoint (train/checkpoints.h): the functions by which an
 * object that keeps something of a run is written and read.  They return 0 or
 * -1.
 */
struct train_part {
    const char *name;
    void *self; /* first argument of each; any function may be NULL */

    /* Before anything is written: work and checks that have to come first. */
    int (*prepare)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);

    /* load() is called where a run goes on from a checkpoint, revert() where it
     * goes back to its last one; a part without revert() stays as it is. */
    int (*load)(void *self, const char *folder, struct err *err);
    int (*revert)(void *self, const char *folder, struct err *err);
};

#endif
