#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "picture.h"

/* Embeddings by the newest checkpoint of a run, for what its trainer does not
 * publish: batches of a run that is over, and the images of its map.  A child
 * process computes them.  A zeroed struct is idle. */
struct embedding {
    pid_t child; /* 0: idle */
    FILE *file;  /* in memory; the child writes it */
    size_t n;
};

/*
 * embedding_start() starts to compute the embeddings of n views, by all cores
 * if `threads` is 0.  Idle before.
 *   name   [n]; a view of -1 is the image without augmentation
 *   texts  the last `texts` of these are captions, not views
 */
void embedding_start(struct embedding *embedding, const char *run, int threads,
                     struct run_views *views, size_t n,
                     const struct picture_name *name, size_t texts);

/* embedding_poll() returns 1 when they are done, with *z, [n,d], of unit
 * length, which the caller frees; -1 with a message if they cannot be made; 0
 * while the child process runs, or if there is none. */
int embedding_poll(struct embedding *embedding, float **z, size_t *d,
                   struct err *err);
void embedding_close(struct embedding *embedding);
