#pragma once

#include <stddef.h>

#include "util/digest.h"
#include "util/err.h"
#include "util/json.h"

/*
 * Checkpoints: folders `step-00000012` in a run directory, complete or absent.
 *
 *     begin    make a folder with a temporary name; the caller writes files
 *     commit   fsync every file; write MANIFEST.json with their sizes and XXH3
 *              digests, and its own; fsync the folder; read all back and
 *              verify; rename; fsync the run directory
 *     link     replace the symlink `latest` atomically
 *     tidy     remove old checkpoints
 *
 * So a crash at any point does not change the last committed checkpoint, and an
 * incomplete one has a name that readers ignore.  A program that resumes after
 * a crash calls link and tidy first, because the crash may have happened
 * between commit and these.
 */

/* nn_checkpoint_begin() makes the temporary folder of a step and returns its
 * path, which the caller frees; NULL on error.  One at a time. */
char *nn_checkpoint_begin(const char *run, long step, struct err *err);

/*
 * nn_checkpoint_commit() makes the temporary folder a checkpoint; if there is a
 * complete one of the same step, it keeps that one.  On error it removes the
 * temporary folder and changes no older checkpoint; the new one may exist, but
 * may not survive a power failure.
 */
int nn_checkpoint_commit(const char *run, long step, struct err *err);

/* nn_checkpoint_link() points `latest` to the newest checkpoint of a run, if
 * there is one. */
int nn_checkpoint_link(const char *run, struct err *err);

/*
 * nn_checkpoint_tidy() removes all checkpoints but the `keep` >= 2 newest and
 * those that a symbolic link in the run directory points to, and all that are
 * partly written or partly removed.  If one cannot be removed it continues with
 * the others and returns -1; err names the last such, and the next call tries
 * again.  Do not call it between begin and commit.
 */
int nn_checkpoint_tidy(const char *run, long keep, struct err *err);

/* nn_checkpoint_abort() removes the temporary folder. */
void nn_checkpoint_abort(const char *run, long step);

/* nn_checkpoint_verify() reads every file and compares it with the manifest.
 * Returns -1 with the name of a file that is missing, truncated, changed or not
 * listed. */
int nn_checkpoint_verify(const char *folder, struct err *err);

/* nn_checkpoint_digest() returns the digest of its manifest, and so of the
 * whole checkpoint, in hexadecimal; -1 where that cannot be read. */
int nn_checkpoint_digest(const char *folder, char hex[DIGEST_HEX],
                         struct err *err);

/*
 * nn_checkpoint_find() looks for a checkpoint: `path` itself if it is one, else
 * the newest in it.  Returns 1 and sets *found to its path, which the caller
 * frees; 0 and NULL if there is none; -1 and NULL if it cannot read the folder.
 */
int nn_checkpoint_find(const char *path, char **found, struct err *err);

/* nn_checkpoint_need() returns the path, which the caller frees; NULL with an
 * error if there is no checkpoint. */
char *nn_checkpoint_need(const char *path, struct err *err);

/* nn_checkpoint_config() returns the config.json of a checkpoint
 * (train/config.h), to be given to json_decref(); NULL on error. */
#define NN_CHECKPOINT_CONFIG "config.json"
json_t *nn_checkpoint_config(const char *checkpoint, struct err *err);

/*
 * nn_checkpoint_set_link() makes or replaces, atomically, a symbolic link in
 * the run directory to the checkpoint of a step, which then is not tidied.  The
 * caller must check afterwards that the checkpoint still exists.
 *   name  of the link, such as "best"
 */
int nn_checkpoint_set_link(const char *run, const char *name, long step,
                           struct err *err);

/* nn_checkpoint_steps() lists the committed steps of a run, ascending; the
 * caller frees the list. */
long *nn_checkpoint_steps(const char *run, size_t *n, struct err *err);
