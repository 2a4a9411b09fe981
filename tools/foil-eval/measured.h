#ifndef FOIL_EVAL_MEASURED_H
#define FOIL_EVAL_MEASURED_H

#include "data/pool.h"
#include "image/view.h"
#include "nn/model.h"
#include "util/opt.h"
#include "util/progress.h"

/* Which rows an encoder is measured on, and how: what the user gives. */
struct measured_how {
    const char *recipe;
    long views, seed, chunk, max_pixels;
    int average;
};
extern struct measured_how measured_how;

#define MEASURED_OPTS(letter)                                                 \
    {"views",   0,                                                            \
     OPT_WHOLE, &measured_how.views,                                          \
     2,         1000,                                                         \
     "N",       "fixed views of each image: the first N random ones"},        \
        {"recipe", 0, OPT_TEXT, &measured_how.recipe,                         \
         0,        0, "SPEC",   "augmentations of views, NAME[,FIELD=X]..."}, \
        {"seed", 's',  OPT_WHOLE, &measured_how.seed,                         \
         0,      1e15, "N",       "seed of views, as in foil-augment"},       \
        {"average", 0,                                                        \
         OPT_FLAG,  &measured_how.average,                                    \
         0,         0,                                                        \
         NULL,      "of the mean of the weights, see foil-train --average"},  \
        {letter ? "batch" : "chunk",                                          \
         letter,                                                              \
         OPT_WHOLE,                                                           \
         &measured_how.chunk,                                                 \
         1,                                                                   \
         65536,                                                               \
         "N",                                                                 \
         "rows that go through the encoder at a time"},                       \
    {                                                                         \
        "max-pixels", 0, OPT_WHOLE, &measured_how.max_pixels, 1, 1e9, "N",    \
            "refuse images with more pixels"                                  \
    }

/*
 * An encoder and the rows that it is measured on: row r is view r / images of
 * sample r % images.  What is kept of a row is its embedding; pixels and
 * activations are made again, some rows at a time.
 */
struct measured {
    struct nn_model model;
    struct data_set *set;
    struct data_pool *pool;
    struct data_recipe recipe;
    struct data_scratch *scratch;
    uint64_t seed;
    size_t images, n, batch, dim;
    uint8_t *pixel; /* [batch,size,size,3] */
    int32_t *id;    /* [batch], of a table */
    float *z;       /* [n,dim] */
    struct progress progress;
    size_t done;
};

/* measured_open() opens CHECKPOINT and DATA, with gradients where `train`, or
 * the process ends. */
void measured_open(struct measured *m, char **path, int train);
void measured_release(struct measured *m);

/* measured_at() returns how many rows go through together, from `first` on. */
size_t measured_at(const struct measured *m, size_t first);

/* measured_forward() brings these rows to the encoder and fills in their
 * embeddings; measured_embed() those of all rows. */
void measured_forward(struct measured *m, size_t first);
void measured_embed(struct measured *m);

/* measured_rows() brings any n <= batch rows to the encoder: z [n,dim]. */
void measured_rows(struct measured *m, size_t n, const size_t *row, float *z);

/* measured_origin() says which encoder and data these are, and how the views
 * were made. */
json_t *measured_origin(const struct measured *m, char **path);

#endif
