#ifndef NN_CHECKPOINT_H
#define NN_CHECKPOINT_H

#include <stddef.h>

#include "util/err.h"

/*
 * Checkpoints: folders `step-00000012` in a run directory, whole or not there.
 *
 *     begin    a folder with a temporary name, into which files are written
 *     commit   fsync of every file; MANIFEST.json with their sizes and XXH3
 *              digests, and its own, written last; fsync of the folder; all
 *              read back and verified; rename; fsync of the run directory;
 *              `latest`, a symlink, replaced atomically; and only then are
 *              old ones beyond `keep` removed
 *
 * So a crash at any point leaves the last committed one as it was, and what
 * is half written has a name that no reader looks at.
 */

/* nn_checkpoint_sweep() removes what a crash left half written. */
int nn_checkpoint_sweep(const char *run, struct err *err);

/*
 * nn_checkpoint_begin() makes the temporary folder of a step and returns its
 * path, to be freed; NULL on error.  One at a time.
 */
char *nn_checkpoint_begin(const char *run, long step, struct err *err);

/*
 * nn_checkpoint_commit() makes it a checkpoint; `keep` >= 2 newest ones stay.
 * A whole one of the same step stays instead.  On error the temporary folder
 * is removed and every older checkpoint is as it was.
 */
int nn_checkpoint_commit(const char *run, long step, long keep,
                         struct err *err);

/* nn_checkpoint_abort() removes the temporary folder. */
void nn_checkpoint_abort(const char *run, long step);

/*
 * nn_checkpoint_verify() reads every file and compares: missing, cut, changed
 * or unlisted ones are refused by name.
 */
int nn_checkpoint_verify(const char *folder, struct err *err);

/*
 * nn_checkpoint_find() returns the path of a checkpoint, to be freed: `path`
 * itself when it is one, else the newest in it.  NULL when there is none.
 */
char *nn_checkpoint_find(const char *path, struct err *err);

/* nn_checkpoint_steps() lists the steps that are committed in a run, rising;
 * to be given to free(). */
long *nn_checkpoint_steps(const char *run, size_t *n, struct err *err);

#endif
