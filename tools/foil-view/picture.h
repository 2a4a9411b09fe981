#pragma once

#include "data/set.h"
#include "run/views.h"

#include "batch_view.h"
#include "http_args.h"

/* Pictures of the views of a run, made again from its directory without the
 * trainer.  Not for two threads at once. */
struct pictures {
    struct run_views *views;
    int ready;        /* the data set is open */
    double tried_at;  /* when it was tried last to open it */
    struct err error; /* of that attempt, if it failed */
};

enum { PICTURE_COLUMNS = 32, PICTURE_LIST_COLUMNS = 16 };

/* pictures_set() returns the data set; NULL with a message, unless `err` is
 * NULL, if it cannot be opened yet.  It tries once a second. */
const struct data_set *pictures_set(struct pictures *pictures, struct err *err);

/*
 * picture_draw() draws n > 0 views as one JPEG, with `columns` in a row.  A
 * view that cannot be made is black.  -1 with a message if none can be made.
 *   name  view -1: the stored image
 */
int picture_draw(struct pictures *pictures, const struct picture_name *name,
                 size_t n, size_t columns, struct data_bytes *jpeg,
                 struct err *err);

/* picture_view() makes a view, [size,size,3]: 0 or -1 with a message. */
int picture_view(struct run_views *views, const struct picture_name *name,
                 uint8_t *out, struct err *err);

/* picture_rows() returns the names of the rows of a batch, [views,n], which the
 * caller frees; rows of texts have the sample and the epoch.  The data set is
 * open. */
struct picture_name *picture_rows(struct pictures *pictures,
                                  const struct batch_view *batch);

/* picture_batch() draws all views of a batch, those of an image together. */
int picture_batch(struct pictures *pictures, const struct batch_view *batch,
                  struct data_bytes *jpeg, struct err *err);

/* picture_texts() returns the captions of a batch with texts, in its order, ""
 * for none. */
json_t *picture_texts(struct pictures *pictures,
                      const struct batch_view *batch);

/* picture_step() fills in the batch of a step, without embeddings, from the run
 * directory; epoch -1: the newest step.  -1 if the step is unknown. */
int picture_step(struct pictures *pictures, int64_t epoch, int64_t step,
                 struct batch_view *batch);
