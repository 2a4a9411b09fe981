#pragma once

#include "nn/average.h"
#include "train/encoder.h"

/* An encoder in this process (train/encoder.h): a net (nn/net.h) and its
 * optimiser.  Read only, except for the blocks of net and optim, which may be
 * written between steps. */
struct train_native {
    struct nn_net *net;
    struct nn_net *small;      /* of images of a second size, with a copy of the
                                  weights; NULL: there are none */
    struct train_encoder of;   /* a copy, for the sizes */
    struct nn_optim *optim;    /* NULL: frozen */
    struct nn_input input;     /* of the last batch; the caller's */
    size_t image;              /* numbers of an image */
    float *before;             /* running statistics before that batch */
    struct nn_average average; /* empty without `average` */
    size_t rows;               /* largest number in the net at a time */
    struct train_shards *shards; /* train/shards.h; NULL: none */
};

/*
 * train_native_open() opens an encoder with initial weights and moments of
 * zero.  On error it returns -1 with an error message that names the wrong
 * field, and there is nothing to close.  Memory: that of nn_net_new() for
 * `micro` rows, and the optimiser's moments.
 */
int train_native_open(struct train_encoder *encoder,
                      const struct train_encoder_spec *spec, struct err *err);

/* train_native() returns the net and optimiser of an encoder, NULL if this
 * process does not compute it or it is not open. */
struct train_native *train_native(const struct train_encoder *encoder);
