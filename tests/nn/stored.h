#pragma once

/*
 * For tests of files of weights: nets of random numbers, and a folder for the
 * files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "nn/net.h"
#include "util/rng.h"

static char folder[256];

/* Small ones of images and of texts. */
static const struct nn_spec image = {
    .arch = "resnet8",
    .stem = "small",
    .norm = "batch",
    .head = "16-8",
    .width = 16,
    .height = 8,
    .image_width = 8,
    .channels = 3,
    .mean = {0.485f, 0.456f, 0.406f},
    .deviation = {0.1f, 0.2f, 0.3f},
};

static const struct nn_spec text = {
    .arch = "clip:16x2x2",
    .stem = "small",
    .norm = "batch",
    .head = "project:4",
    .vocabulary = 9,
    .context = 5,
};

static inline struct nn_net *
net_new(const struct nn_spec *spec)
{
    struct err err;
    struct nn_net *net = nn_net_new(spec, 2, 1, &err);

    if (!net) {
        printf("# %s\n", err.msg);
        abort();
    }
    return net;
}

/* Numbers by a seed, no two the same; those of statistics may be variances. */
static inline void
net_fill(struct nn_net *net, uint64_t seed)
{
    struct rng rng;
    size_t n;
    float *x = nn_net_params(net, &n);

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
    x = nn_net_statistics(net, &n);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_unit(&rng);
}
