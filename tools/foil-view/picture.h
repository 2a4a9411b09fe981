#ifndef FOIL_VIEW_PICTURE_H
#define FOIL_VIEW_PICTURE_H

#include "data/set.h"
#include "run/views.h"

#include "ask.h"
#include "moment.h"

/*
 * Pictures of the views of a run, which are made again from its folder: the
 * trainer is asked for nothing.  Not for two threads at once.
 */
struct pictures {
    struct run_views *views;
    int ready;     /* the data set is open */
    double missed; /* when it was looked for in vain */
    struct err why;
};

enum { PICTURE_COLUMNS = 32, PICTURE_LIST_COLUMNS = 16 };

/* pictures_set() returns the data set; NULL with a sentence where it is not
 * found yet: it is looked for once a second. */
const struct data_set *pictures_set(struct pictures *pictures, struct err *err);

/* pictures_tile() returns the pixels of a view on a picture, at most 64; or 0.
 */
size_t pictures_tile(struct pictures *pictures);

/* picture_batch() draws all views of a batch as JPEG, both of an image beside
 * each other; -1 with a sentence. */
int picture_batch(struct pictures *pictures, const struct moment *moment,
                  struct data_bytes *jpeg, struct err *err);

/* picture_list() draws n views, picture_image() an image as it is. */
int picture_list(struct pictures *pictures, const struct picture_name *name,
                 size_t n, struct data_bytes *jpeg, struct err *err);
int picture_image(struct pictures *pictures, int64_t id,
                  struct data_bytes *jpeg, struct err *err);

/* picture_plain() draws n images as they are, so many in a row; one that cannot
 * be read stays black. */
int picture_plain(struct pictures *pictures, const int64_t *id, size_t n,
                  size_t columns, struct data_bytes *jpeg, struct err *err);

/* picture_texts() returns the captions of a batch with texts, in its order;
 * empty ones where there are none. */
json_t *picture_texts(struct pictures *pictures, const struct moment *moment);

/* picture_step() fills in the batch of a step as the folder of the run has it,
 * without embeddings; of the newest with epoch -1.  -1: it does not know it. */
int picture_step(struct pictures *pictures, int64_t epoch, int64_t step,
                 struct moment *moment);

#endif
