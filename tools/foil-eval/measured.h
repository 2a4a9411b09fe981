#ifndef FOIL_EVAL_MEASURED_H
#define FOIL_EVAL_MEASURED_H

#include "data/pool.h"
#include "data/set.h"
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

extern const struct opt views_opts[], chunk_opts[];

/*
 * An encoder and the rows that it is measured on: row r is view r / images of
 * sample r % images.  What is kept of a row is its embedding; pixels and
 * activations are made again, some rows at a time.
 */
struct measured {
    struct nn_model model;
    struct data_set *set;
    struct data_pool *pool;
    struct image_recipe recipe;
    struct image_scratch *scratch;
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

/* measured_embed() fills in the embeddings of all rows. */
void measured_embed(struct measured *m);

/* measured_rows() brings any n <= batch rows to the encoder: z [n,dim]. */
void measured_rows(struct measured *m, size_t n, const size_t *row, float *z);

/* measured_origin() says which encoder and data these are, and how the views
 * were made. */
json_t *measured_origin(const struct measured *m, char **path);

/* What a checkpoint keeps of each sample, read once. */
struct tables {
    const char *folder;
    struct nn_array *array;
    size_t n;
};

/* tables_open() reads those of a checkpoint, or the process ends. */
void tables_open(struct tables *tables, const char *folder);
void tables_release(struct tables *tables);

/* tables_find() returns the column of that name, [n] or [n,each], lent; NULL
 * where there is none. */
const float *tables_find(const struct tables *tables, const char *name,
                         size_t n, size_t *each);

/* tables_check() ends the process where the data are not what the checkpoint
 * was trained on. */
void tables_check(const struct nn_model *model, const struct data_set *set,
                  const char *path);

#endif
