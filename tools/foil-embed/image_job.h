#ifndef FOIL_EMBED_IMAGE_JOB_H
#define FOIL_EMBED_IMAGE_JOB_H

#include <stddef.h>

/* Which images are to be embedded, and how. */
struct embed_image_job {
    const char *checkpoint; /* NULL: no encoder */
    int descriptor;         /* then 1: eval/descriptor.h; 0: pixels / 255 */
    const char *data, *output;
    const char *projector; /* folder, projector.h; NULL: none */
    const char *recipe;    /* of augmented views; NULL: plain ones */
    int head;              /* 1: embeddings; 0: the encoder's features */
    int untrained;         /* 1: with initial weights */
    int average;           /* 1: with the mean of weights (nn/average.h) */
    int skip;              /* 1: bad images are left out */
    long part, parts; /* the images are cut into parts, 1 <= part <= parts */
    long size, seed, view, batch, threads, max_pixels; /* size 0: as trained */
};

/* embed_image_job() does it; it ends the tool where that fails. */
void embed_image_job(const struct embed_image_job *job);

#endif
