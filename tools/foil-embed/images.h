#ifndef FOIL_EMBED_IMAGES_H
#define FOIL_EMBED_IMAGES_H

#include "data/set.h"
#include "image/codec.h"
#include "image/view.h"

/* The images of a data set, one view of each: plain, or by a recipe. */
struct embed_config {
    const char *path; /* of the data set */
    const char
        *recipe;       /* NAME[,FIELD=X]... of random views; NULL: plain ones */
    uint64_t seed;     /* of random views */
    size_t max_pixels; /* an image with more is bad */
    int skip;          /* bad images are left out later: go on without files */
};

struct embed_images {
    struct data_set *set;
    struct data_recipe recipe; /* its size is set by the caller */
    int random;                /* whether there is one */
    uint64_t seed;             /* mixed with the data set's digest */
    size_t max_pixels;
    struct data_bytes bytes;
    struct data_decoder *decoder;
    struct data_image image;
    struct data_scratch *scratch;
};

/* Opens the data set; ends the tool where that fails. */
void embed_images_open(struct embed_images *images,
                       const struct embed_config *config);
void embed_images_close(struct embed_images *images);

/*
 * Makes view number `view` of a sample, [size,size,3]; plain views are all the
 * same.  0, -1 for an image that is bad, or DATA_UNREAD.
 */
int embed_images_view(struct embed_images *images, size_t id, size_t size,
                      uint64_t view, uint8_t *out, struct err *err);

#endif
