#ifndef TRAIN_ENCODER_H
#define TRAIN_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "loss/objective.h"
#include "nn/model.h"
#include "train/batch.h"
#include "train/part.h"
#include "util/err.h"

/*
 * An encoder in training, whoever computes it: batches go through in
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
 * for each.  A learner (train/learner.h) may have one of these or two, of
 * images and of texts, whose files in a checkpoint have different names.
 *
 * A locked one (Zhai et al. 2021, arXiv:2111.07991) embeds by its running
 * statistics and never moves; its gradient is 0.
 *
 * Where it is computed is the matter of a table of functions: here
 * (train/native.h), by several ranks (train/shards.h), or in a program of the
 * user's (train/process.h).  The
 * learner, checkpoints and tools know these functions alone.
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
    int locked;     /* its weights stay: no gradient, no optimiser */
    int average;    /* there will be a mean of its weights */
    int loss;       /* its program has the loss, too: train/own.h */
    size_t weighed; /* of weights of negatives, of so many rows at most; 0: of
                       none */
};

/*
 * The functions of an encoder, called in this order in a step: take, forward of
 * each micro-batch, backward of each, norm, steady; then update and average, or
 * undo.  A function that returns int returns 0, or -1 with a sentence: then the
 * step has failed, and so will all later ones, save included.  Its work may be
 * under way still when it returns, so that others work meanwhile; a later
 * function fails then.
 */
struct train_encoder_verbs {
    /* A batch comes, whose arrays stay until its last backward. */
    int (*take)(void *self, const struct nn_input *input, struct err *err);

    /* Between backward and norm, or with `early` before backward, which then
     * is not under way any more when it returns: the batch that comes next,
     * whose arrays stay until its last backward, if it comes.  NULL: of no use.
     */
    void (*expect)(void *self, const struct nn_input *input);
    int early;

    /* Before take: whose rows come, and of which place of the plan.  NULL: of
     * no use. */
    void (*announce)(void *self, const struct train_batch *batch);

    /* Its rows [from,to), as nn_net_forward() has them, to z [to - from,dim];
     * z is NULL on the way back, where they were embedded already. */
    int (*forward)(void *self, size_t from, size_t to, enum nn_mode mode,
                   float *z, struct err *err);

    /* Whether the products of similarities are made where the embeddings are: 1
     * where that can be.  Then forward() of a whole batch of n rows leaves S =
     * V V', [n,n], of V = z / |z|, at *s, and backward() with dz = NULL takes
     * W + W' from *w, dV = (W + W') V.  NULL: they are not. */
    int (*products)(void *self, const float **s, float **w);

    /* The loss of the rows that went forward last, for an encoder that has it
     * itself; then backward() with dz = NULL is of its gradient.  NULL: an
     * encoder that has none. */
    int (*loss)(void *self, const struct loss_batch *batch,
                struct loss_report *report, struct err *err);

    /* The gradient of the rows that went forward last; with `add` it is added
     * to that of those before. */
    int (*backward)(void *self, size_t from, size_t to, int add,
                    const float *dz, struct err *err);

    /* The length of the gradient; not finite where a number of it is not.
     * Whether all running statistics are finite: 1. */
    int (*norm)(void *self, double *length, struct err *err);
    int (*steady)(void *self);

    int (*update)(void *self, double rate, struct err *err);
    int (*average)(void *self, struct err *err);

    /* Where a step cannot be undone, the next function fails. */
    void (*undo)(void *self);

    /* Where its weights are, as they are now, and how many batches they have
     * seen; and that the numbers that stand there are in force. */
    int (*get)(void *self, struct nn_weights *blocks, long *steps,
               struct err *err);
    int (*put)(void *self, struct err *err);

    /* All else that the next step depends on: whether it may be saved, for it
     * is finite (NULL: it may); to files in a folder, and from there. */
    int (*check)(void *self, struct err *err);
    int (*save)(void *self, const char *folder, struct err *err);
    int (*load)(void *self, const char *folder, struct err *err);

    /* Weights of a file to begin with; as nn_pretrained_load(). */
    int (*init)(void *self, const char *path, char **left, struct err *err);

    /* The settings and kernels that its bits depend on, as text to be given to
     * free(). */
    char *(*table)(void *self);

    void (*close)(void *self);
};

/* Read only; filled in by the function that opens it. */
struct train_encoder {
    const struct train_encoder_verbs *verbs; /* NULL: it is not open */
    void *self;
    enum nn_input_kind kind;
    size_t rows, micro; /* as in the spec; micro is never 0 */
    size_t dim, image;  /* width of an embedding; numbers of an image */
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
 * train_encoder_forward() encodes rows.  0, or -1 with a sentence, as all that
 * return int here.
 *   input  images, ids or tokens, 1 <= n <= rows; its arrays must stay until
 *          train_encoder_backward()
 *   mode   NN_TRAIN: a step, train_encoder_backward() may follow; NN_ENCODE:
 *          embeddings are all that is wanted, nothing moves
 *   z      [n,dim], raw
 */
int train_encoder_forward(struct train_encoder *encoder,
                          const struct nn_input *input, enum nn_mode mode,
                          float *z, struct err *err);

/*
 * train_encoder_backward() makes dL/dparams, which stays where it is computed.
 *   dz  [n,dim]  dL/dz of the last forward in NN_TRAIN; once for each.  NULL:
 *       see train_encoder_products() and train_encoder_loss()
 */
int train_encoder_backward(struct train_encoder *encoder, const float *dz,
                           struct err *err);

/*
 * train_encoder_products() returns 1 where an encoder makes the products of the
 * similarities of a batch itself, all of which goes through it at once: then
 * train_encoder_forward() of n rows in NN_TRAIN leaves S, [n,n], in *s, and
 * train_encoder_backward() with dz = NULL takes W + W', [n,n], from *w, as
 * struct loss_batch has them.  To be asked before each forward.
 */
int train_encoder_products(struct train_encoder *encoder, const float **s,
                           float **w);

/* train_encoder_announce() says before a forward whose rows come.  An encoder
 * that is computed here has no use for it. */
void train_encoder_announce(struct train_encoder *encoder,
                            const struct train_batch *batch);

/* train_encoder_loss() takes the loss of the last forward in NN_TRAIN from an
 * encoder that was opened with `loss`, in a report that has a value and further
 * numbers, whose names stay until the next one.  Then train_encoder_backward()
 * takes dz = NULL.
 *   batch  its b, extra, weights and scale; no weights unless the encoder was
 *          opened with `weighed`, 2 b + extra at least */
int train_encoder_loss(struct train_encoder *encoder,
                       const struct loss_batch *batch,
                       struct loss_report *report, struct err *err);

/* train_encoder_expect() says, between backward and norm, or before backward
 * where train_encoder_early() is 1, which batch will come next: one that is
 * computed elsewhere has it sent meanwhile.  Its arrays must
 * stay, if it comes, as those of train_encoder_forward(). */
int train_encoder_early(const struct train_encoder *encoder);
void train_encoder_expect(struct train_encoder *encoder,
                          const struct nn_input *input);

/* train_encoder_norm() finds the length of that gradient; not finite when a
 * number of it is not. */
int train_encoder_norm(const struct train_encoder *encoder, double *length,
                       struct err *err);

/* train_encoder_update() takes the optimiser's step along that gradient, of
 * that learning rate. */
int train_encoder_update(struct train_encoder *encoder, double rate,
                         struct err *err);

/* train_encoder_average() takes the weights into their mean, where one was
 * asked for. */
int train_encoder_average(struct train_encoder *encoder, struct err *err);

/* train_encoder_undo() puts the running statistics back as they were before the
 * last forward: all that a step changes but for its update. */
void train_encoder_undo(struct train_encoder *encoder);

/* train_encoder_steady() returns 1 when all running statistics are finite;
 * train_encoder_check() says so, -1, where weights or moments are not, either.
 */
int train_encoder_steady(const struct train_encoder *encoder);
int train_encoder_check(struct train_encoder *encoder, struct err *err);

/* train_encoder_get() finds its weights (nn/model.h); numbers that are written
 * there are in force after train_encoder_put(). */
int train_encoder_get(struct train_encoder *encoder, struct nn_weights *blocks,
                      struct err *err);
int train_encoder_put(struct train_encoder *encoder, struct err *err);

/*
 * The files of nn/model.h in a folder: model and head; the state of the
 * optimiser; that of nn/average.h, where there is a mean.  After an error in
 * loading weights, moments and mean are undefined.
 */
int train_encoder_save(struct train_encoder *encoder, const char *folder,
                       struct err *err);
int train_encoder_load(struct train_encoder *encoder, const char *folder,
                       struct err *err);

/* train_encoder_start() gives it the weights of a file (nn/pretrained.h). */
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
