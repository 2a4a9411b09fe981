#ifndef FOIL_EVAL_TOWERS_H
#define FOIL_EVAL_TOWERS_H

#include "stage/process.h"

/*
 * The rows of a checkpoint with an encoder of texts: view 0 is the images of a
 * data set, whole, view 1 their captions, as foil-embed makes both.
 */
struct towers {
    char *checkpoint;            /* its folder */
    char *file[3];               /* images, captions, NULL */
    int life;                    /* while it is open, their folder is there */
    struct stage_process keeper; /* removes it */
};

/* towers_find() returns 1 where that is what `path` is, with its folder. */
int towers_find(struct towers *towers, const char *path);

/* towers_embed() has foil-embed write the files, or the process ends.  They lie
 * in a folder of their own in TMPDIR, which goes when we do, however that is.
 */
void towers_embed(struct towers *towers, const char *data, int average,
                  long threads);

/* towers_remove() removes the files, once read; towers_release() lets go. */
void towers_remove(struct towers *towers);
void towers_release(struct towers *towers);

#endif
