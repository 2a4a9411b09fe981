#ifndef TRAIN_ENCODER_H
#define TRAIN_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "nn/average.h"
#include "nn/net.h"
#include "nn/optim.h"
#include "train/part.h"
#include "util/err.h"

/*
 * An encoder in training: a net, its optimiser, and batches that go through in
 * micro-batches where they are too large for the memory.
 *
 *     forward    rows in, raw embeddings out; keeps what backward needs
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
 * Not for two threads at once; two encoders are independent of each other.
 */
struct train_encoder_spec {
    struct nn_spec net;
    struct nn_optim_spec optim;
    size_t rows;   /* at most, in a batch; >= 1 */
    size_t micro;  /* at most, in the net at a time; 0: all */
    uint64_t seed; /* of the initial weights */
    int locked;    /* its weights stay: no gradient, no optimiser */
    int average;   /* there will be a mean of its weights */
};

/* To be read, but for the blocks of net and optim: these may be filled. */
struct train_encoder {
    struct nn_net *net;
    struct nn_optim *optim;    /* NULL: locked */
    size_t rows, micro;        /* as in the spec; micro is never 0 */
    size_t dim, image;         /* width of an embedding; numbers of an image */
    struct nn_input input;     /* of the last forward; lent */
    float *before;             /* running statistics as they were then */
    struct nn_average average; /* empty where none was asked for */
};

/*
 * train_encoder_open() makes one with fresh weights and moments of zero.  -1
 * with the field that makes no sense; then it is closed.  Memory as
 * nn_net_new() says, for `micro` rows; and the optimiser's moments.
 */
int train_encoder_open(struct train_encoder *encoder,
                       const struct train_encoder_spec *spec, struct err *err);

/* train_encoder_close() frees all and leaves it empty; harmless on an empty
 * one. */
void train_encoder_close(struct train_encoder *encoder);

/*
 * train_encoder_forward() encodes rows.
 *   input  images, ids or tokens, 1 <= n <= rows; its arrays must stay until
 *          train_encoder_backward()
 *   mode   NN_TRAIN: a step, train_encoder_backward() may follow; NN_ENCODE:
 *          embeddings are all that is wanted, nothing moves
 *   z      [n,dim], raw
 */
void train_encoder_forward(struct train_encoder *encoder,
                           const struct nn_input *input, enum nn_mode mode,
                           float *z);

/*
 * train_encoder_backward() overwrites nn_net_grads() with dL/dparams.
 *   dz  [n,dim]  dL/dz of the last forward in NN_TRAIN; once for each
 */
void train_encoder_backward(struct train_encoder *encoder, const float *dz);

/* train_encoder_norm() returns the length of that gradient; not finite when a
 * number of it is not. */
double train_encoder_norm(const struct train_encoder *encoder);

/* train_encoder_update() takes the optimiser's step along that gradient, of
 * that learning rate. */
void train_encoder_update(struct train_encoder *encoder, double rate);

/* train_encoder_average() takes the weights into their mean, where one was
 * asked for. */
void train_encoder_average(struct train_encoder *encoder);

/* train_encoder_undo() puts the running statistics back to what they were
 * before the last forward: all that a step changes but for its update. */
void train_encoder_undo(struct train_encoder *encoder);

/* train_encoder_steady() returns 1 when all running statistics are finite;
 * train_encoder_finite() when weights and moments are, too. */
int train_encoder_steady(struct train_encoder *encoder);
int train_encoder_finite(struct train_encoder *encoder);

/*
 * The files of nn/model.h in a folder: model, head and optim; that of
 * nn/average.h, where there is a mean.  After an error in loading weights,
 * moments and mean are undefined.
 */
int train_encoder_save(struct train_encoder *encoder, const char *folder,
                       struct err *err);
int train_encoder_load(struct train_encoder *encoder, const char *folder,
                       struct err *err);

/* train_encoder_part() returns it as a part of a checkpoint, which is refused
 * where a weight is not finite. */
struct train_part train_encoder_part(struct train_encoder *encoder);

#endif
