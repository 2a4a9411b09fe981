#pragma once

#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

static struct nn_spec tiny = {
    .arch = "resnet8",
    .stem = "small",
    .norm = "batch",
    .head = "24-8",
    .width = 16,
    .height = 12,
    .image_width = 10,
    .channels = 3,
    .mean = {.5f, .5f, .5f},
    .deviation = {.25f, .25f, .25f},
};

/* A net with a batch of images and its results. */
struct fixture {
    struct nn_net *net;
    enum nn_mode mode; /* of value() */
    size_t n, params, statistics, dim, features;
    uint8_t *images;
    float *h, *z, *dz;
};

static inline struct fixture
setup(const struct nn_spec *spec, size_t n, int train)
{
    size_t pixels = n * spec->height * spec->image_width * spec->channels;
    struct fixture f = {.n = n, .images = mem_array(pixels, 1)};
    struct rng rng;
    struct err err = {""};

    f.net = nn_net_new(spec, n, train, &err);
    if (!f.net)
        printf("# %s\n", err.msg);
    nn_net_init(f.net, 1);
    nn_net_params(f.net, &f.params);
    nn_net_statistics(f.net, &f.statistics);
    f.dim = nn_net_dim(f.net);
    f.features = nn_net_features(f.net);
    f.h = mem_array(n * f.features, sizeof *f.h);
    f.z = mem_array(n * f.dim, sizeof *f.z);
    f.dz = mem_array(n * f.dim, sizeof *f.dz);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < pixels; i++)
        f.images[i] = (uint8_t)rng_u32(&rng);
    if (nn_encoder_of_rows(
            spec->arch)) { // rows, and a last layer that is not 0
        float *p = nn_net_params(f.net, NULL);

        for (size_t i = 0; i < pixels / sizeof *p; i++) {
            const float x = (float)rng_normal(&rng);

            memcpy(f.images + i * sizeof x, &x, sizeof x);
        }
        for (size_t i = 0; i < f.params; i++)
            p[i] += (float)(rng_normal(&rng) * 0.1);
    }
    for (size_t i = 0; i < n * f.dim; i++)
        f.dz[i] = (float)rng_normal(&rng);
    return f;
}

static inline void
teardown(struct fixture *f)
{
    nn_net_free(f->net);
    free(f->images);
    free(f->h);
    free(f->z);
    free(f->dz);
}

/* The largest difference, in units of the rms of b. */
static inline double
apart(size_t n, const float *a, const float *b)
{
    double off = 0;

    for (size_t i = 0; i < n; i++)
        off = fmax(off, fabs((double)a[i] - b[i]));
    return off / sqrt(num_dot(n, b, b) / (double)n);
}

static inline const struct nn_tensor *
named(const struct fixture *f, const char *name)
{
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(f->net, &n);

    while (n-- && strcmp(t->name, name))
        t++;
    return t;
}

/* Runs nn_net_forward() or nn_net_infer() of n images. */
static inline void
forward(struct nn_net *net, enum nn_mode mode, size_t n, const uint8_t *images,
        float *h, float *z)
{
    const struct nn_input input = {.n = n, .images = images};

    nn_net_forward(net, mode, &input, h, z);
}

static inline void
infer(struct nn_net *net, size_t n, const uint8_t *images, float *h, float *z)
{
    const struct nn_input input = {.n = n, .images = images};

    nn_net_infer(net, &input, h, z);
}

/* A linear function of z, whose gradient is dz. */
static inline double
value(struct fixture *f)
{
    forward(f->net, f->mode, f->n, f->images, NULL, f->z);
    return num_dot(f->n * f->dim, f->z, f->dz);
}

/*
 * The slope of value() along a direction u in n parameters from `first` on, |u|
 * their size: central differences against <grads, u>, in units of that of a
 * random direction, |grads| |u| / sqrt(n).
 */
static inline double
slope_error(struct fixture *f, size_t first, size_t n, uint64_t trial)
{
    float *p = nn_net_params(f->net, NULL) + first;
    float *g = nn_net_grads(f->net) + first;
    float *at = mem_array(n, sizeof *at), *u = mem_array(n, sizeof *u);
    double side[2], want, scale, step = 2e-5, size = sqrt(num_dot(n, p, p));
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, trial, 0, 0);
    memcpy(at, p, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        u[i] = (float)(rng_normal(&rng) * size / sqrt((double)n));
    value(f);
    nn_net_backward(f->net, f->dz, 0);
    want = num_dot(n, g, u);
    scale = sqrt(num_dot(n, g, g) * num_dot(n, u, u) / (double)n);
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < n; i++)
            p[i] = at[i] + (float)(s ? step : -step) * u[i];
        side[s] = value(f);
    }
    memcpy(p, at, n * sizeof *p);
    free(at);
    free(u);
    return fabs((side[1] - side[0]) / (2 * step) - want) / scale;
}
