#ifndef TRAIN_ENCODER_H
#define TRAIN_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "loss/objective.h"
#include "nn/model.h"
#include "train/part.h"
#include "util/batch.h"
#include "util/err.h"

/*
 * An encoder in training, wherever it is computed: batches go through it in
 * micro-batches where they are too large for the memory.
 *
 *     forward    rows in, raw embeddings out; keeps the values for backward
 *     backward   the gradient of the embeddings in, that of the weights kept
 *     update     one step of the optimiser along it
 *     undo       after forward and backward: as if there had been no step
 *
 * Micro-batches are GradCache, Gao, Zhang, Han and Callan 2021,
 * arXiv:2101.06983: forward keeps embeddings alone and moves no statistics,
 * and each micro-batch but the last is encoded again on the way back, so the
 * gradient is that of the whole batch, for nearly one more forward pass.  Batch
 * norm takes the statistics of a micro-batch, and moves the running ones once
 * for each.  A learner (train/learner.h) has one encoder or two, of images and
 * of texts, whose files in a checkpoint have different names.
 *
 * A locked encoder (Zhai et al. 2021, arXiv:2111.07991) embeds by its running
 * statistics and never moves; its gradient is 0.
 *
 * A table of functions computes it: in this process (train/native.h), in
 * several ranks (train/shards.h), or in a program of the user's
 * (train/process.h).  The learner, checkpoints and tools know these functions
 * alone.
 *
 * Not for two threads at once; two encoders are independent of each other.
 */
struct train_encoder_spec {
    struct nn_spec net;
    struct nn_optim_spec optim;
    size_t rows;    /* at most, in a batch; >= 1 */
    size_t micro;   /* at most, in the net at a time; 0: all */
    size_t shards;  /* parts of a batch, train/shards.h; 0, 1: it is whole */
    int whole;      /* batch norm is over all shards of a batch */
    uint64_t seed;  /* of the initial weights */
    int locked;     /* 1: its weights stay: no gradient, no optimiser */
    int average;    /* 1: a mean of its weights is kept, too */
    int loss;       /* 1: its program has the loss, too: train/own.h */
    size_t weighed; /* and that loss takes weights of negatives, for so many
                       rows at most; 0: none */
};

/*
 * The functions of an encoder, called in this order in a step: take, forward of
 * each micro-batch, backward of each, norm, stats_finite; then update and
 * average, or undo.  A function with an `err` returns 0, or -1 with a sentence:
 * then the step has failed, and so will all later calls, save included.  The
 * work may still be under way when a function returns; if it fails then, a
 * later function says so.
 */
struct train_encoder_ops {
    /* A batch comes, whose arrays stay until its last backward. */
    int (*take)(void *self, const struct nn_input *input, struct err *err);

    /* Which batch comes next: called between backward and norm, or where
     * `early` is 1 before backward, which is then done when it returns.  The
     * arrays stay until the last backward of that batch, if it comes.  NULL: of
     * no use. */
    void (*expect)(void *self, const struct nn_input *input);
    int early;

    /* Before take: of which samples and which place of the plan its rows are.
     * NULL: of no use. */
    void (*announce)(void *self, const struct batch *batch);

    /* Encodes rows [from,to) of the batch, as nn_net_forward(), to z
     * [to - from,dim]; z is NULL on the way back, where they were embedded
     * already. */
    int (*forward)(void *self, size_t from, size_t to, enum nn_mode mode,
                   float *z, struct err *err);

    /* Returns 1 where the encoder can make the products of similarities itself,
     * else 0.  Then forward() of a whole batch of n rows leaves S = V V',
     * [n,n], of V = z / |z|, at *s, and backward() with dz = NULL takes W + W'
     * from *w, dV = (W + W') V.  NULL: it cannot. */
    int (*products)(void *self, const float **s, float **w);

    /* Computes the loss of the rows that went forward last, for an encoder that
     * has it itself; then backward() with dz = NULL takes the gradient of that.
     * NULL: the encoder has none. */
    int (*loss)(void *self, const struct loss_batch *batch,
                struct loss_report *report, struct err *err);

    /* Makes the gradient of the rows that went forward last, from dz
     * [to - from,dim]; where `add` is 1 it is added to that of the rows before.
     */
    int (*backward)(void *self, size_t from, size_t to, int add,
                    const float *dz, struct err *err);

    /* norm: the length of the gradient; not finite where a number of it is not.
     * stats_finite: returns 1 when all running statistics are finite, else 0.
     */
    int (*norm)(void *self, double *length, struct err *err);
    int (*stats_finite)(void *self);

    int (*update)(void *self, double rate, struct err *err);
    int (*average)(void *self, struct err *err);

    /* As train_encoder_undo(); where that fails, the next function does. */
    void (*undo)(void *self);

    /* get: where its weights are, as they are now, and how many batches they
     * were trained on.  put: the numbers that were written there are in force.
     */
    int (*get)(void *self, struct nn_weights *blocks, long *steps,
               struct err *err);
    int (*put)(void *self, struct err *err);

    /* All else that the next step depends on.  check: refuses to save what is
     * not finite (NULL: refuses nothing); save and load: files in a folder. */
    int (*check)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);
    int (*load)(void *self, const char *folder, struct err *err);

    /* Loads the first weights from a file; as nn_pretrained_load(). */
    int (*init)(void *self, const char *path, char **left, struct err *err);

    /* The settings and kernels that its bits depend on, as text to be given to
     * free(). */
    char *(*table)(void *self);

    void (*close)(void *self);
};

/* Read only; filled in by the function that opens it. */
struct train_encoder {
    const struct train_encoder_ops *ops; /* NULL: it is not open */
    void *self;
    enum nn_input_kind kind;
    size_t rows, micro; /* as in the spec; micro is never 0 */
    size_t dim, image;  /* width of an embedding; numbers (pixels x channels) of
                           an image */
    size_t parameters;  /* numbers that are trained */
    int locked;
    size_t n; /* rows of the last forward */
};

/* train_encoder_init() fills in the members that follow from the spec alone. */
void train_encoder_init(struct train_encoder *encoder,
                        const struct train_encoder_spec *spec);

/* train_encoder_close() frees all and leaves it empty; harmless on an empty
 * one. */
void train_encoder_close(struct train_encoder *encoder);

/*
 * train_encoder_forward() encodes rows.  0, or -1 with a sentence, as all
 * functions with an `err` here.
 *   input  images, ids or tokens, 1 <= n <= rows; its arrays must stay until
 *          train_encoder_backward()
 *   mode   NN_TRAIN: a step, train_encoder_backward() may follow; NN_ENCODE:
 *          embeddings are all that is wanted, nothing moves
 *   z      [n,dim], raw, out
 */
int train_encoder_forward(struct train_encoder *encoder,
                          const struct nn_input *input, enum nn_mode mode,
                          float *z, struct err *err);

/*
 * train_encoder_backward() makes dL/dparams, which stays where it is computed.
 *   dz  [n,dim]  dL/dz of the last forward in NN_TRAIN, which takes one
 *       backward.  NULL: see train_encoder_products() and train_encoder_loss()
 */
int train_encoder_backward(struct train_encoder *encoder, const float *dz,
                           struct err *err);

/*
 * train_encoder_products() returns 1 where an encoder makes the similarities of
 * a batch itself, which it can where no micro-batches are needed, else 0.  Then
 * train_encoder_forward() of n rows in NN_TRAIN leaves S, [n,n], in *s, and
 * train_encoder_backward() with dz = NULL takes W + W', [n,n], from *w, as
 * struct loss_batch has them.  To be asked before each forward.
 */
int train_encoder_products(struct train_encoder *encoder, const float **s,
                           float **w);

/* train_encoder_announce() says before a forward which batch its rows are of.
 * An encoder that is computed in this process has no use for it. */
void train_encoder_announce(struct train_encoder *encoder,
                            const struct batch *batch);

/*
 * train_encoder_loss() takes the loss of the last forward in NN_TRAIN from an
 * encoder that was opened with `loss`: its value and further numbers, whose
 * names stay until the next report.  Then train_encoder_backward() takes dz =
 * NULL.
 *   batch  b, extra, weights and scale are read; weights are NULL unless the
 *          encoder was opened with `weighed`, 2 b + extra at least
 */
int train_encoder_loss(struct train_encoder *encoder,
                       const struct loss_batch *batch,
                       struct loss_report *report, struct err *err);

/* train_encoder_expect() says, between backward and norm, or before backward
 * where train_encoder_early() is 1, which batch will come next, so that it can
 * be sent meanwhile to where it is computed.  If it comes, its arrays must stay
 * as those of train_encoder_forward(). */
int train_encoder_early(const struct train_encoder *encoder);
void train_encoder_expect(struct train_encoder *encoder,
                          const struct nn_input *input);

/* train_encoder_norm() finds the length of the gradient, 0 of a locked encoder;
 * not finite when a number of it is not. */
int train_encoder_norm(const struct train_encoder *encoder, double *length,
                       struct err *err);

/* train_encoder_update() takes the optimiser's step along the gradient, with
 * that learning rate. */
int train_encoder_update(struct train_encoder *encoder, double rate,
                         struct err *err);

/* train_encoder_average() counts the weights as they are now for their mean,
 * where one was asked for. */
int train_encoder_average(struct train_encoder *encoder, struct err *err);

/* train_encoder_undo() puts the running statistics back as they were before the
 * last forward: all that a step changes but for its update. */
void train_encoder_undo(struct train_encoder *encoder);

/* train_encoder_stats_finite() returns 1 when all running statistics are
 * finite, else 0; train_encoder_check() returns -1 with a sentence where they,
 * weights or moments of the optimiser are not. */
int train_encoder_stats_finite(const struct train_encoder *encoder);
int train_encoder_check(struct train_encoder *encoder, struct err *err);

/* train_encoder_get() finds its weights (nn/model.h); numbers that are written
 * there are in force after train_encoder_put(). */
int train_encoder_get(struct train_encoder *encoder, struct nn_weights *blocks,
                      struct err *err);
int train_encoder_put(struct train_encoder *encoder, struct err *err);

/*
 * Write and read an encoder's files in a folder: model and head (nn/model.h);
 * the state of the optimiser; that of nn/average.h, where there is a mean.
 * After an error in loading, weights, moments and mean are undefined.
 */
int train_encoder_save(struct train_encoder *encoder, const char *folder,
                       struct err *err);
int train_encoder_load(struct train_encoder *encoder, const char *folder,
                       struct err *err);

/* train_encoder_start() loads the weights of a file, as nn_pretrained_load();
 * *left, to be given to free(), lists what was left out; "" or NULL: none. */
int train_encoder_start(struct train_encoder *encoder, const char *path,
                        char **left, struct err *err);

/* train_encoder_table() returns, as text to be given to free(), the settings
 * and kernels that its bits depend on besides the processor, such as
 * nn_net_algorithms(). */
char *train_encoder_table(const struct train_encoder *encoder);

/* train_encoder_part() returns it as a part of a checkpoint, which is refused
 * where a weight is not finite. */
struct train_part train_encoder_part(struct train_encoder *encoder);

#endif
