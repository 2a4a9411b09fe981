#ifndef NN_CHECKPOINT_H
#define NN_CHECKPOINT_H

#include <stddef.h>

#include "util/digest.h"
#include "util/err.h"
#include "util/json.h"

/*
 * Checkpoints: folders `step-00000012` in a run directory, whole or not there.
 *
 *     begin    a folder with a temporary name, into which files are written
 *     commit   fsync of every file; MANIFEST.json with their sizes and XXH3
 *              digests, and its own, written last; fsync of the folder; all
 *              read back and verified; rename; fsync of the run directory
 *     link     `latest`, a symlink, replaced atomically
 *     tidy     only then are old ones removed
 *
 * So a crash at any point leaves the last committed one as it was, and a
 * half-written one has a name that no reader looks at.  A program that goes on
 * after a crash calls link and tidy first, for the crash may have come between
 * commit and these.
 */

/*
 * nn_checkpoint_begin() makes the temporary folder of a step and returns its
 * path, to be freed; NULL on error.  One at a time.
 */
char *nn_checkpoint_begin(const char *run, long step, struct err *err);

/*
 * nn_checkpoint_commit() makes the temporary folder a checkpoint; if there is a
 * whole one of the same step, that one stays instead.  On error the temporary
 * folder is removed and every older checkpoint is as it was; the new one may be
 * there, but might not survive a loss of power.
 */
int nn_checkpoint_commit(const char *run, long step, struct err *err);

/* nn_checkpoint_link() points `latest` to the newest checkpoint of a run, if
 * there is one and it does not yet. */
int nn_checkpoint_link(const char *run, struct err *err);

/*
 * nn_checkpoint_tidy() removes all checkpoints but the `keep` >= 2 newest and
 * those that a symbolic link in the run directory points to, and all that were
 * left half written or half removed.  Where one cannot be removed it goes on
 * with the others and returns -1, and err names the last such; the next call
 * tries again.  Not to be called between begin and commit.
 */
int nn_checkpoint_tidy(const char *run, long keep, struct err *err);

/* nn_checkpoint_abort() removes the temporary folder. */
void nn_checkpoint_abort(const char *run, long step);

/*
 * nn_checkpoint_verify() reads every file and compares it with the manifest: -1
 * with the name of one that is missing, cut, changed or unlisted.
 */
int nn_checkpoint_verify(const char *folder, struct err *err);

/* nn_checkpoint_digest() returns the digest of its manifest, and so of the
 * whole checkpoint, in hexadecimal; -1 where that cannot be read. */
int nn_checkpoint_digest(const char *folder, char hex[DIGEST_HEX],
                         struct err *err);

/*
 * nn_checkpoint_find() looks for a checkpoint: `path` itself when it is one,
 * else the newest in it.  Returns 1 with its path in *found, to be freed, 0
 * with NULL when there is none, -1 with NULL when the folder cannot be read.
 */
int nn_checkpoint_find(const char *path, char **found, struct err *err);

/* nn_checkpoint_need() is the same where there must be one: its path, to be
 * freed, or NULL. */
char *nn_checkpoint_need(const char *path, struct err *err);

/* nn_checkpoint_config() returns the config.json of a checkpoint
 * (train/config.h), to be given to json_decref(); NULL on error. */
#define NN_CHECKPOINT_CONFIG "config.json"
json_t *nn_checkpoint_config(const char *checkpoint, struct err *err);

/*
 * nn_checkpoint_point() makes or replaces, atomically, a symbolic link in the
 * run directory to the checkpoint of a step, which keeps it from being tidied.
 * The caller has to look afterwards whether the checkpoint is still there.
 *   name  of the link, such as "best"
 */
int nn_checkpoint_point(const char *run, const char *name, long step,
                        struct err *err);

/* nn_checkpoint_steps() lists the steps that are committed in a run, rising;
 * to be given to free(). */
long *nn_checkpoint_steps(const char *run, size_t *n, struct err *err);

#endif
