#ifndef TRAIN_NATIVE_H
#define TRAIN_NATIVE_H

#include "nn/average.h"
#include "train/encoder.h"

/*
 * The encoder that is computed here (train/encoder.h): a net (nn/net.h) and its
 * optimiser.  To be read, but for the blocks of net and optim: these may be
 * filled between steps.
 */
struct train_native {
    struct nn_net *net;
    struct nn_optim *optim;      /* NULL: locked */
    struct nn_input input;       /* of the last batch; lent */
    size_t image;                /* numbers of an image */
    float *before;               /* running statistics as they were then */
    struct nn_average average;   /* empty where none was asked for */
    size_t rows;                 /* at most, in the net at a time */
    struct train_shards *shards; /* train/shards.h; NULL: batches are whole */
};

/*
 * train_native_open() makes one with fresh weights and moments of zero.  -1
 * with the field that makes no sense; then it is closed.  Memory as
 * nn_net_new() says, for `micro` rows; and the optimiser's moments.
 */
int train_native_open(struct train_encoder *encoder,
                      const struct train_encoder_spec *spec, struct err *err);

/* train_native() returns the network behind an encoder, NULL where it is not
 * computed here or not open. */
struct train_native *train_native(const struct train_encoder *encoder);

#endif
