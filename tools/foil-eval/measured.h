#ifndef FOIL_EVAL_MEASURED_H
#define FOIL_EVAL_MEASURED_H

#include "data/pool.h"
#include "data/set.h"
#include "image/view.h"
#include "nn/model.h"
#include "util/opt.h"
#include "util/progress.h"

/* Options: which rows an encoder is measured on, and how. */
struct measured_settings {
    const char *recipe;
    long views, seed, chunk, max_pixels;
    int average;
};
extern struct measured_settings measured_settings;

extern const struct opt views_opts[], chunk_opts[];

/*
 * An encoder and the rows that it is measured on: row r is view r / images of
 * sample r % images.  Only the embedding of a row is stored; pixels and
 * activations are recomputed, `batch` rows at a time.
 */
struct measured {
    struct nn_model model;
    struct data_set *set;
    struct data_pool *pool;
    struct image_recipe recipe;
    struct image_scratch *scratch;
    uint64_t seed;
    size_t images, n, batch, dim;
    uint8_t *pixel;           /* [batch,size,size,3] */
    int32_t *id;              /* [batch], for an embedding table */
    size_t *all;              /* [n] 0, 1 ... n - 1: all rows */
    float *z;                 /* [n,dim] */
    struct progress progress; /* of rows encoded; not shown until started */
    size_t done;
};

/* measured_open() opens CHECKPOINT and DATA, with gradients if `train`, or
 * ends the process. */
void measured_open(struct measured *m, char **path, int train);
void measured_release(struct measured *m);

/* measured_embed() computes the embeddings of all rows. */
void measured_embed(struct measured *m);

/* measured_rows() encodes any n <= batch rows: z [n,dim]. */
void measured_rows(struct measured *m, size_t n, const size_t *row, float *z);

/* measured_gradient() returns the gradient of the parameters from dL/dz [n,dim]
 * of any n rows, which it encodes again. */
const float *measured_gradient(struct measured *m, size_t n, const size_t *row,
                               const float *dz);

/* measured_origin() describes encoder, data and views. */
json_t *measured_origin(const struct measured *m, char **path);

/* The per-sample columns of a checkpoint. */
struct tables {
    const char *folder;
    struct nn_array *array;
    size_t n;
};

/* tables_open() reads the columns of a checkpoint, or ends the process. */
void tables_open(struct tables *tables, const char *folder);
void tables_release(struct tables *tables);

/* tables_find() returns the column of that name, [n] or [n,each], owned by
 * `tables`; NULL if there is none. */
const float *tables_find(const struct tables *tables, const char *name,
                         size_t n, size_t *each);

/* tables_check() ends the process if the checkpoint was trained on other
 * data. */
void tables_check(const struct nn_model *model, const struct data_set *set,
                  const char *path);

#endif
