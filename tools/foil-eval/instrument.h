#pragma once

#include "data/pool.h"
#include "eval.h"
#include "eval/bias.h"
#include "eval/frozen.h"
#include "image/view.h"
#include "nn/model.h"
#include "util/progress.h"

/* Options: which rows an encoder is measured on, and how. */
struct measured_settings {
    const char *recipe;
    long views, seed, chunk, max_pixels;
    int average;
};
extern struct measured_settings measured_settings;

extern const struct opt views_opts[], chunk_opts[];

/* An encoder and the rows that it is measured on: row r is view r / images of
 * sample r % images.  Only the embedding of a row is stored; pixels and
 * activations are recomputed, `batch` rows at a time. */
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

/* measured_gradient() returns the gradient of the parameters from dL/dz [n,dim]
 * of any n rows, which it encodes again. */
const float *measured_gradient(struct measured *m, size_t n, const size_t *row,
                               const float *dz);

/* measured_origin() describes encoder, data and views. */
json_t *measured_origin(const struct measured *m, char **path);

/* The per-sample columns of a checkpoint. */
struct tables {
    const char *folder;
    struct nn_array *array; /* [n] the caller frees it, nn_arrays_free() */
    size_t n;
};

/* tables_open() reads the columns of a checkpoint, or ends the process. */
void tables_open(struct tables *tables, const char *folder);

/* tables_find() returns the column of that name, [n] or [n,each], owned by
 * `tables`; NULL if there is none. */
const float *tables_find(const struct tables *tables, const char *name,
                         size_t n, size_t *each);

/*
 * The common part of verbs that measure contrastive methods: rows are views of
 * a data set, embedded by a checkpoint; or its images and captions, embedded by
 * a checkpoint with two encoders; or features of any encoder, a file for each
 * view.
 */
extern const struct opt instrument_opts[];

/* The groups of options of all these verbs. */
#define INSTRUMENT_GROUPS \
    instrument_opts, views_opts, chunk_opts, threads_opts, output_opts, NULL

/* The operands of all these verbs. */
#define INSTRUMENT_OPERANDS "CHECKPOINT|VIEW [DATA|VIEW] ..."
enum { INSTRUMENT_MOST = 64 };

struct instrument {
    struct eval_views rows;
    struct measured measured; /* of a checkpoint without text encoder */
    int encoder;              /* 1: `measured` is open */
    char *bimodal;  /* folder of a checkpoint with a text encoder, or NULL */
    float *z, *v;   /* [n,d] embeddings, and of unit length */
    int64_t *id;    /* [samples] ids in the data set */
    int64_t *group; /* [samples] or NULL */
    struct data_classes classes; /* names of groups; n = 0: numbers */
    json_t *origin;              /* describes the rows */
};

/*
 * instrument_open() opens the operands, CHECKPOINT DATA or files VIEW ..., or
 * ends the process.
 *   train  1: with gradients of the encoder, if there is one
 */
void instrument_open(struct instrument *in, char **path, int train);
void instrument_release(struct instrument *in);

/* instrument_protocol() returns a description of the rows, to print. */
json_t *instrument_protocol(const struct instrument *in);

/* instrument_group() returns the name of a sample's group, or its number in
 * `text`; NULL if it has none. */
const char *instrument_group(const struct instrument *in, size_t sample,
                             char text[24]);

/* spread() describes numbers: mean, deviation, the standard error of the mean,
 * median, and the quantiles .05 and .95. */
json_t *spread(size_t n, const double *x);

/* figure_json() returns a number with its interval. */
json_t *figure_json(struct eval_figure figure);

/* The methods to measure on frozen rows: each printed line is of one objective
 * and one batch size. */
struct method_settings {
    struct opt_list objectives;
    const char *proposals, *strategy, *batches;
    double tau;
};
extern struct method_settings method_settings;

/* Options on objectives; on strategy and batch sizes. */
extern const struct opt method_opts[], batches_opts[];

/* A method for eval_frozen_new(). */
struct method {
    const char *name; /* of the command line */
    struct eval_frozen_settings settings;
    struct sample_settings sampler; /* of `settings`, which point to it; only if
                                       the objective needs weights */
};

/* method_read() reads the method of one objective, or ends the process. */
void method_read(struct method *method, const char *objective);

/* method_batches() reads the list of sizes, 2 .. most; returns their number. */
size_t method_batches(size_t most, size_t batch[LIST_MOST]);

/* method_open() is instrument_open() for rows of two views or more. */
void method_open(struct instrument *in, char **path, int train);

/* Independent trainers of a method: R epochs of each are measured. */
struct replicas {
    const struct instrument *in;
    const struct instrument *before; /* rows of the epochs before; or NULL */
    const struct method *method;
    size_t n;               /* trainers; the k-th adds k to the seed */
    size_t warm_up, epochs; /* of each; those before are not measured */
    void (*measure)(void *self, size_t replica, struct eval_frozen *frozen,
                    const struct eval_batch *batch);
    void *self;
};

/* method_replicate() runs the trainers, and calls measure() for each batch of a
 * measured epoch; ends the process on error. */
void method_replicate(const struct replicas *all);

/* method_has_state() returns 1 if objective or sampler have per-sample state
 * that lasts from one epoch to the next. */
int method_has_state(const struct method *method);

/* method_line() begins a result, method_protocol() its protocol. */
json_t *method_line(const char *measure, const struct method *method);
json_t *method_protocol(const struct instrument *in,
                        const struct method *method);

/*
 * method_each() opens the rows and calls `measure` for each objective and each
 * batch size, or ends the process.  Checks all objectives first.
 *   begin  called once the rows are open
 */
void method_each(struct instrument *in, char **path, int train,
                 void (*begin)(void *self, char **path),
                 void (*measure)(void *self, const struct method *method),
                 void *self);

/* A picture of figures with intervals against batch size: a panel for each
 * figure and a line for each name. */
enum { CURVES_PANELS = 3 };

struct curves_panel {
    const char *label;
    int logarithms; /* 1: logarithmic, from 1e-6 */
};

struct curves {
    struct curves_point {
        char *name;
        size_t batch;
        struct eval_figure figure[CURVES_PANELS];
    } * point;
    size_t n, room;
};

/* curves_add() adds a point; `curves` owns its name. */
void curves_add(struct curves *curves, char *name, size_t batch,
                const struct eval_figure figure[CURVES_PANELS]);

/* curves_draw() draws them with --plot, and releases them. */
void curves_draw(struct curves *curves,
                 const struct curves_panel panel[CURVES_PANELS]);
