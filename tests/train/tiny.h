#pragma once

/* A small encoder and its images, for the tests of this folder. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "train/native.h"
#include "util/rng.h"

enum { TINY_SIDE = 8, TINY_IMAGE = TINY_SIDE * TINY_SIDE * 3, TINY_DIM = 6 };

/* norm: batch, or group, which normalises each row by itself. */
static inline struct train_encoder_spec
tiny_spec(const char *norm, size_t rows, size_t micro)
{
    return (struct train_encoder_spec){
        .net = {.arch = "resnet8",
                .stem = "small",
                .norm = norm,
                .head = "12-6",
                .width = 8,
                .height = TINY_SIDE,
                .image_width = TINY_SIDE,
                .channels = 3,
                .mean = {.5f, .5f, .5f},
                .deviation = {.25f, .25f, .25f}},
        .optim = {.name = "sgd", .momentum = 0.9, .accumulate = 1},
        .rows = rows,
        .micro = micro,
        .seed = 7,
    };
}

static inline struct train_encoder
tiny_open(const char *norm, size_t rows, size_t micro)
{
    const struct train_encoder_spec spec = tiny_spec(norm, rows, micro);
    struct train_encoder encoder;
    struct err err;

    if (train_native_open(&encoder, &spec, &err)) {
        printf("# %s\n", err.msg);
        exit(1);
    }
    return encoder;
}

static inline void
tiny_images(uint8_t *images, size_t n, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n * TINY_IMAGE; i++)
        images[i] = (uint8_t)rng_u32(&rng);
}
