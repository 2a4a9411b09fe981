#ifndef TRAIN_PART_H
#define TRAIN_PART_H

#include "util/err.h"

/*
 * A part of a checkpoint (train/checkpoints.h): the functions that write and
 * read an object with state of a run.  They return 0 or -1.
 */
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

#endif
