#ifndef FOIL_VIEW_PICTURE_H
#define FOIL_VIEW_PICTURE_H

#include "data/set.h"
#include "run/views.h"

#include "batch_view.h"
#include "http_args.h"

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

/* picture_draw() draws n > 0 views as JPEG, so many in a row; one that cannot
 * be made stays black.  -1 with a sentence where none can. name  of a view;
 * with a view of -1, of the image as it is stored */
int picture_draw(struct pictures *pictures, const struct picture_name *name,
                 size_t n, size_t columns, struct data_bytes *jpeg,
                 struct err *err);

/* picture_batch() draws all views of a batch, those of an image beside each
 * other. */
int picture_batch(struct pictures *pictures, const struct batch_view *batch,
                  struct data_bytes *jpeg, struct err *err);

/* picture_texts() returns the captions of a batch with texts, in its order;
 * empty ones where there are none. */
json_t *picture_texts(struct pictures *pictures,
                      const struct batch_view *batch);

/* picture_step() fills in the batch of a step as the folder of the run has it,
 * without embeddings; of the newest with epoch -1.  -1: it does not know it. */
int picture_step(struct pictures *pictures, int64_t epoch, int64_t step,
                 struct batch_view *batch);

#endif
