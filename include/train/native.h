#ifndef TRAIN_NATIVE_H
#define TRAIN_NATIVE_H

#include "nn/average.h"
#include "train/encoder.h"

/*
 * The encoder that this process computes (train/encoder.h): a net (nn/net.h)
 * and its optimiser.  Read only, but for the blocks of net and optim, which may
 * be filled between steps.
 */
struct train_native {
    struct nn_net *net;
    struct nn_optim *optim;      /* NULL: locked */
    struct nn_input input;       /* of the last batch; lent */
    size_t image;                /* numbers of an image */
    float *before;               /* running statistics before that batch */
    struct nn_average average;   /* empty where none was asked for */
    size_t rows;                 /* at most, in the net at a time */
    struct train_shards *shards; /* train/shards.h; NULL: batches are whole */
};

/*
 * train_native_open() makes an encoder with initial weights and moments of
 * zero.  On error -1, with a sentence that names the wrong field, and nothing
 * to close.  Memory as nn_net_new() says, for `micro` rows; and the optimiser's
 * moments.
 */
int train_native_open(struct train_encoder *encoder,
                      const struct train_encoder_spec *spec, struct err *err);

/* train_native() returns what computes an encoder, NULL where that is not this
 * process or the encoder is not open. */
struct train_native *train_native(const struct train_encoder *encoder);

#endif
