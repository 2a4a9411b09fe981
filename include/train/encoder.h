#pragma once

#include <stddef.h>
#include <stdint.h>

#include "loss/objective.h"
#include "nn/model.h"
#include "train/checkpoints.h"
#include "util/batch.h"
#include "util/err.h"

/*
 * An encoder in training, in this process or elsewhere.  Batches that are too
 * large for the memory are split into micro-batches.
 *
 *     forward    rows in, raw embeddings out; stores activations for backward
 *     backward   gradient of the embeddings in; computes that of the weights
 *     update     one step of the optimiser along that gradient
 *     undo       reverts what forward and backward changed
 *
 * Micro-batches are GradCache, Gao, Zhang, Han and Callan 2021,
 * arXiv:2101.06983: forward stores embeddings only and updates no statistics.
 * The backward pass encodes each micro-batch except the last again.  So the
 * gradient is that of the whole batch, at the cost of nearly one more forward
 * pass.  Batch norm uses the statistics of a micro-batch and updates the
 * running ones once per micro-batch.  A learner (train/learner.h) has one
 * encoder, or one of images and one of texts; their files in a checkpoint have
 * different names.
 *
 * A frozen encoder (Zhai et al. 2021, arXiv:2111.07991) uses its running
 * statistics, and its gradient is 0.
 *
 * A table of functions implements an encoder: in this process (train/native.h),
 * in several ranks (train/shards.h), or in a program of the user's
 * (train/process.h).  The learner, checkpoints and tools use these functions
 * only.
 *
 * Not for two threads at once; two encoders are independent of each other.
 */
struct train_encoder_spec {
    struct nn_spec net;
    struct nn_optim_spec optim;
    size_t rows;  /* largest number in a batch; >= 1 */
    size_t views; /* of each image, with those of a second size: the last
                     `small` of them; 0: all have the size of `net` */
    size_t small, small_height, small_width;
    size_t micro;   /* largest number in the net at a time; 0: all */
    size_t shards;  /* parts of a batch, train/shards.h; 0, 1: not split */
    int whole;      /* batch norm uses all shards of a batch */
    uint64_t seed;  /* of the initial weights */
    int frozen;     /* 1: no gradient, no optimiser: --freeze */
    int average;    /* 1: also computes a mean of its weights */
    int features;   /* 1: its rows are features from before the head, if its
                       program can compute them */
    int loss;       /* 1: its program also computes the loss: train/process.h */
    size_t weighed; /* largest number of rows for which that loss takes weights
                       of negatives; 0: it takes none */
};

/* A request for row sums. */
struct train_sums {
    size_t b; /* samples of the batch */
    enum loss_mask mask;
    double tau_all;       /* of log_all */
    const double *tau;    /* [2b] of each anchor */
    const int64_t *group; /* [2b], or NULL: `same` is not wanted */
};

/*
 * The functions that implement an encoder; those of the same names below say
 * what they do.  In a step they are called in this order: announce, take,
 * forward of each micro-batch, backward of each, norm, stats_finite; then
 * update and average, or undo.  After an error all later calls, including save,
 * fail. A function may return before its work is done; if that work fails, a
 * later function returns the error.
 */
struct train_encoder_ops {
    /* Starts a batch; its arrays are valid until its last backward. */
    int (*take)(void *self, const struct nn_input *input, struct err *err);

    /* NULL: not needed.  If prefetches_early is 1, prefetch is called before
     * backward, not after it, and backward has finished its work when it
     * returns. */
    void (*prefetch)(void *self, const struct nn_input *input);
    int prefetches_early;
    void (*announce)(void *self, const struct batch *batch);

    /* Encodes rows [from,to) of the batch, as nn_net_forward(), to z [to -
     * from,dim].  z is NULL when the rows are encoded again for backward. */
    int (*forward)(void *self, size_t from, size_t to, enum nn_mode mode,
                   float *z, struct err *err);

    /* For an encoder with `sums`; sums() with `want` NULL only takes deferred
     * embeddings. */
    void (*defer)(void *self);
    int (*sums)(void *self, const struct train_sums *want,
                const struct loss_sums **sums, float **coefficient,
                struct err *err);

    /* NULL: it computes no loss. */
    int (*loss)(void *self, const struct loss_batch *batch,
                struct loss_report *report, struct err *err);

    /* Computes the gradient of the rows of the last forward() from dz
     * [to - from,dim].  If `add` is 1, it is added to the gradient of earlier
     * rows. */
    int (*backward)(void *self, size_t from, size_t to, int add,
                    const float *dz, struct err *err);

    int (*norm)(void *self, double *length, struct err *err);
    int (*stats_finite)(void *self);
    int (*update)(void *self, double rate, struct err *err);

    /* For an encoder with `late`: train_encoder_update_early(). */
    void (*update_early)(void *self, double rate, const struct batch *next);
    int (*average)(void *self, struct err *err);
    void (*undo)(void *self); /* if that fails, the next function fails */

    /* *steps: the batches that the weights were trained on.  put: NULL: nothing
     * to do. */
    int (*get)(void *self, struct nn_weights *blocks, long *steps,
               struct err *err);
    int (*put)(void *self, struct err *err);

    /* All other state of the next step.  check: fails if a number is not finite
     * and must not be saved (NULL: never fails).  save and load: files in a
     * folder. */
    int (*check)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);
    int (*load)(void *self, const char *folder, struct err *err);

    /* train_encoder_start() */
    int (*init)(void *self, const char *path, char **left, struct err *err);
    char *(*table)(void *self);
    void (*close)(void *self);
};

/* Read only; set by the function that opens the encoder. */
struct train_encoder {
    const struct train_encoder_ops *ops; /* NULL: not open */
    void *self;
    enum nn_input_kind kind;
    size_t rows, micro;  /* as in the spec; micro is never 0 */
    size_t dim, image;   /* numbers of an embedding; of an image (pixels x
                            channels) */
    size_t views, small; /* as in the spec */
    size_t small_image;  /* numbers of an image of the second size; 0: none */
    size_t parameters;   /* trained numbers */
    int frozen;
    int features; /* 1: its rows are features from before the head */
    int sums;     /* 1: it computes row sums of embeddings: neither frozen nor
                     with micro-batches */
    int late;     /* 1: it can update before its norm is known */
    size_t n;     /* rows of the last forward */
};

/* train_encoder_init() sets the members that follow from the spec. */
void train_encoder_init(struct train_encoder *encoder,
                        const struct train_encoder_spec *spec);

/* train_encoder_large() returns how many of n rows have the size of the net:
 * the first ones; the images of the others follow theirs. */
size_t train_encoder_large(const struct train_encoder *encoder, size_t n);

/* train_encoder_close() frees everything; an encoder that is not open is left
 * alone. */
void train_encoder_close(struct train_encoder *encoder);

/*
 * train_encoder_forward() encodes rows.  It returns 0, or -1 with an error
 * message, like all functions with an `err` here.
 *   input  images, ids or tokens, 1 <= n <= rows; its arrays must be valid
 *          until train_encoder_backward()
 *   mode   NN_TRAIN: a step, train_encoder_backward() may follow; NN_ENCODE:
 *          only embeddings, no statistics are updated
 *   z      [n,dim], raw, out
 */
int train_encoder_forward(struct train_encoder *encoder,
                          const struct nn_input *input, enum nn_mode mode,
                          float *z, struct err *err);

/*
 * train_encoder_backward() computes dL/dparams, which is not copied out of the
 * encoder.
 *   dz  [n,dim]  dL/dz of the last forward in NN_TRAIN; one backward per
 *       forward.  NULL: see train_encoder_sums() and train_encoder_loss()
 */
int train_encoder_backward(struct train_encoder *encoder, const float *dz,
                           struct err *err);

/* train_encoder_defer() makes the next train_encoder_forward(), in NN_TRAIN, of
 * an encoder with `sums` return before its work is done: train_encoder_sums()
 * or train_encoder_take() writes z. */
void train_encoder_defer(struct train_encoder *encoder);

/*
 * train_encoder_sums() returns the row sums of the anchors of the last forward;
 * with two encoders, of one program, it is called for the first one.  The
 * caller writes *coefficient, as loss_objective_sums(), and calls
 * train_encoder_backward() with dz = NULL.
 *   sums         [2b] out, valid until the next forward
 *   coefficient  [2b,2] out: where to write them
 */
int train_encoder_sums(struct train_encoder *encoder,
                       const struct train_sums *want,
                       const struct loss_sums **sums, float **coefficient,
                       struct err *err);

/* train_encoder_take() writes the embeddings of a second encoder, after
 * train_encoder_sums() of the first. */
int train_encoder_take(struct train_encoder *encoder, struct err *err);

/* train_encoder_announce() passes, before a forward, the batch of its rows.  An
 * encoder in this process ignores it. */
void train_encoder_announce(struct train_encoder *encoder,
                            const struct batch *batch);

/*
 * train_encoder_loss() computes the loss of the last forward in NN_TRAIN in an
 * encoder that was opened with `loss`: its value and further numbers; their
 * names are valid until the next report.  Then call train_encoder_backward()
 * with dz = NULL.
 *   batch  reads b, extra, weights and scale; weights are NULL unless the
 *          encoder was opened with `weighed` >= 2 b + extra
 */
int train_encoder_loss(struct train_encoder *encoder,
                       const struct loss_batch *batch,
                       struct loss_report *report, struct err *err);

/* train_encoder_prefetch() announces the next batch, so that it can be sent
 * ahead to a program or to ranks.  Call it between backward and norm, or before
 * backward if ops->prefetches_early is 1.  If that batch comes, its arrays must
 * be valid as those of train_encoder_forward(). */
void train_encoder_prefetch(struct train_encoder *encoder,
                            const struct nn_input *input);

/* train_encoder_norm() returns the length of the gradient, 0 for a frozen
 * encoder; it is not finite if any number of the gradient is not. */
int train_encoder_norm(const struct train_encoder *encoder, double *length,
                       struct err *err);

/* train_encoder_update() takes the optimiser's step along the gradient, with
 * that learning rate. */
int train_encoder_update(struct train_encoder *encoder, double rate,
                         struct err *err);

/*
 * train_encoder_update_early() requests, before train_encoder_norm(), an update
 * that the encoder makes only if its gradient and its running statistics are
 * finite; else it does what train_encoder_undo() does.  Then it begins to
 * encode the next batch, so that a device does not wait for the rest of this
 * step; for an encoder with `late`.
 *   next  the batch of the last train_encoder_prefetch(), or NULL.  If another
 *         one comes, or the weights are read, its forward is undone
 */
void train_encoder_update_early(struct train_encoder *encoder, double rate,
                                const struct batch *next);

/* train_encoder_average() adds the current weights to their mean, if the
 * encoder was opened with `average`. */
int train_encoder_average(struct train_encoder *encoder, struct err *err);

/* train_encoder_undo() restores the running statistics from before the last
 * forward.  Nothing else changes in a step before its update. */
void train_encoder_undo(struct train_encoder *encoder);

/* train_encoder_stats_finite() returns 1 when all running statistics are
 * finite, else 0. */
int train_encoder_stats_finite(const struct train_encoder *encoder);

/* train_encoder_get() returns pointers to the weights (nn/model.h); numbers
 * written there take effect with train_encoder_put(). */
int train_encoder_get(struct train_encoder *encoder, struct nn_weights *blocks,
                      struct err *err);
int train_encoder_put(struct train_encoder *encoder, struct err *err);

/* train_encoder_start() loads the weights of a file, as nn_pretrained_load().
 * *left lists what was left out, "" or NULL if nothing; the caller frees it. */
int train_encoder_start(struct train_encoder *encoder, const char *path,
                        char **left, struct err *err);

/* train_encoder_table() returns the settings and kernels that its bits depend
 * on besides the processor, such as nn_net_algorithms(), as text that the
 * caller frees. */
char *train_encoder_table(const struct train_encoder *encoder);

/*
 * train_encoder_part() returns the encoder as a part of a checkpoint, with the
 * files model and head (nn/model.h), the state of the optimiser, and with
 * `average` that of nn/average.h.  prepare() fails if a statistic, a weight or
 * a moment of the optimiser is not finite.  After an error in load() weights,
 * moments and mean are undefined.
 */
struct train_part train_encoder_part(struct train_encoder *encoder);
