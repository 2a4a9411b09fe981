#include <stdlib.h>
#include <string.h>

#include "nn/pretrained.h"
#include "num/vec.h"
#include "train/native.h"
#include "util/mem.h"

static int
native_take(void *self, const struct nn_input *input, struct err *err)
{
    struct train_native *e = self;
    size_t n;
    const float *statistics = nn_net_running(e->net, &n);

    (void)err;
    e->input = *input;
    memcpy(e->before, statistics, n * sizeof *statistics);
    return 0;
}

static void
forward_net(struct train_native *e, struct nn_net *net, enum nn_mode mode,
            const struct nn_input *input, float *z)
{
    if (e->optim)
        nn_net_forward(net, mode, input, NULL, z);
    else
        nn_net_infer(net, input, NULL, z);
}

/* Encodes rows [from,to), from the first small one on, with a copy of the
 * weights; the running statistics go on. */
static void
forward_small(struct train_native *e, size_t from, size_t to, size_t large,
              enum nn_mode mode, float *z)
{
    const size_t image = e->of.small_image;
    const struct nn_input input = {
        .n = to - from,
        .images = e->input.images + large * e->image + (from - large) * image};
    size_t n, count;
    const float *params = nn_net_params(e->net, &n);
    float *running = nn_net_running(e->net, &count);

    memcpy(nn_net_params(e->small, &n), params, n * sizeof *params);
    memcpy(nn_net_running(e->small, &count), running, count * sizeof *running);
    forward_net(e, e->small, mode, &input, z);
    memcpy(running, nn_net_running(e->small, &count), count * sizeof *running);
}

/* Returns the first of rows [from,to) that is small, or `to`. */
static size_t
first_small(const struct train_native *e, size_t from, size_t to)
{
    const size_t large =
        e->small ? train_encoder_large(&e->of, e->input.n) : to;

    return large < from ? from : large < to ? large : to;
}

static int
native_forward(void *self, size_t from, size_t to, enum nn_mode mode, float *z,
               struct err *err)
{
    struct train_native *e = self;
    const size_t until = first_small(e, from, to);
    const struct nn_input input =
        nn_input_slice(&e->input, nn_net_kind(e->net), e->image, from, until);

    (void)err;
    if (until > from)
        forward_net(e, e->net, mode, &input, z);
    if (to > until)
        forward_small(e, until, to, train_encoder_large(&e->of, e->input.n),
                      mode, z ? z + (until - from) * e->of.dim : NULL);
    return 0;
}

static int
native_backward(void *self, size_t from, size_t to, int add, const float *dz,
                struct err *err)
{
    struct train_native *e = self;
    const size_t until = first_small(e, from, to);
    float *grads = nn_net_grads(e->net);
    size_t n;

    (void)err;
    nn_net_params(e->net, &n);
    if (until > from)
        nn_net_backward(e->net, dz, add);
    else if (!add)
        memset(grads, 0, n * sizeof *grads);
    if (to > until) {
        nn_net_backward(e->small, dz + (until - from) * e->of.dim, 0);
        num_axpy(n, 1, nn_net_grads(e->small), grads);
    }
    return 0;
}

static int
native_norm(void *self, double *length, struct err *err)
{
    struct train_native *e = self;

    (void)err;
    *length = nn_optim_norm(e->optim, nn_net_grads(e->net));
    return 0;
}

static int
native_update(void *self, double rate, struct err *err)
{
    struct train_native *e = self;

    (void)err;
    nn_optim_step(e->optim, rate, nn_net_params(e->net, NULL),
                  nn_net_grads(e->net));
    return 0;
}

static int
native_average(void *self, struct err *err)
{
    struct train_native *e = self;

    (void)err;
    if (e->average.mean)
        nn_average_add(&e->average, e->net);
    return 0;
}

static void
native_undo(void *self)
{
    struct train_native *e = self;
    size_t n;
    float *statistics = nn_net_running(e->net, &n);

    memcpy(statistics, e->before, n * sizeof *statistics);
}

static int
native_stats_finite(void *self)
{
    struct train_native *e = self;
    size_t n;
    const float *statistics = nn_net_running(e->net, &n);

    return num_finite(n, statistics);
}

/* A frozen encoder has none. */
static struct nn_moments
moments_of(const struct train_native *e)
{
    return e->optim ? nn_optim_moments(e->optim) : (struct nn_moments){.n = 0};
}

static int
native_get(void *self, struct nn_weights *blocks, long *steps, struct err *err)
{
    struct train_native *e = self;
    const long *taken = moments_of(e).steps;

    (void)err;
    *blocks = nn_net_weights(e->net);
    *steps = taken ? *taken : 0;
    return 0;
}

static int
native_check(void *self, struct err *err)
{
    struct train_native *e = self;
    const struct nn_moments m = moments_of(e);
    int finite = 1;
    size_t n;

    nn_net_params(e->net, &n);
    for (size_t k = 0; k < m.n; k++)
        finite &= num_finite(n, m.block[k]);
    return finite ? 0
                  : err_set(err, "the optimiser's moments are not finite: not "
                                 "saved");
}

static int
native_save(void *self, const char *folder, struct err *err)
{
    struct train_native *e = self;
    const struct nn_weights blocks = nn_net_weights(e->net);

    if (nn_average_save(folder, &blocks, &e->average, err))
        return -1;
    return e->optim ? nn_optim_save(folder, e->net, e->optim, err) : 0;
}

static int
native_load(void *self, const char *folder, struct err *err)
{
    struct train_native *e = self;
    const struct nn_weights blocks = nn_net_weights(e->net);

    if (e->average.mean && nn_average_load(folder, &blocks, &e->average, err))
        return -1;
    return e->optim ? nn_optim_load(folder, e->net, e->optim, err) : 0;
}

static int
native_init(void *self, const char *path, char **left, struct err *err)
{
    struct train_native *e = self;

    return nn_pretrained_load(path, e->net, left, err);
}

static char *
native_table(void *self)
{
    struct train_native *e = self;
    char *table = nn_net_algorithms(e->net), *small;

    if (e->small) {
        small = nn_net_algorithms(e->small);
        mem_append(&table, "%s", small);
        free(small);
    }
    return table;
}

static void
native_close(void *self)
{
    struct train_native *e = self;

    nn_net_free(e->net);
    nn_net_free(e->small);
    nn_optim_free(e->optim);
    free(e->before);
    nn_average_release(&e->average);
    free(e);
}

static const struct train_encoder_ops ops = {
    .take = native_take,
    .forward = native_forward,
    .backward = native_backward,
    .norm = native_norm,
    .stats_finite = native_stats_finite,
    .update = native_update,
    .average = native_average,
    .undo = native_undo,
    .get = native_get,
    .check = native_check,
    .save = native_save,
    .load = native_load,
    .init = native_init,
    .table = native_table,
    .close = native_close,
};

/* Opens a net for each size, for as many rows as one may get. */
static int
open_nets(struct train_native *e, const struct train_encoder *encoder,
          const struct train_encoder_spec *spec, struct err *err)
{
    const size_t large = train_encoder_large(encoder, spec->rows),
                 small = spec->rows - large, micro = encoder->micro;
    struct nn_spec net = spec->net;

    e->net =
        nn_net_new(&net, micro < large ? micro : large, !spec->frozen, err);
    net.height = spec->small_height;
    net.image_width = spec->small_width;
    if (e->net && small)
        e->small =
            nn_net_new(&net, micro < small ? micro : small, !spec->frozen, err);
    return e->net && (e->small || !small) ? 0 : -1;
}

int
train_native_open(struct train_encoder *encoder,
                  const struct train_encoder_spec *spec, struct err *err)
{
    struct train_native *e = mem_array(1, sizeof *e);
    const struct nn_tensor *tensors;
    size_t n, count;

    train_encoder_init(encoder, spec);
    if (open_nets(e, encoder, spec, err))
        goto out;
    tensors = nn_net_tensors(e->net, &n);
    nn_net_params(e->net, &count);
    if (!spec->frozen)
        e->optim = nn_optim_new(&spec->optim, tensors, n, count, err);
    if (!spec->frozen && !e->optim)
        goto out;
    nn_net_init(e->net, spec->seed);
    e->image = encoder->image;
    e->rows = encoder->micro;
    encoder->parameters = count;
    encoder->dim = nn_net_dim(e->net);
    encoder->kind = nn_net_kind(e->net);
    nn_net_running(e->net, &count);
    e->before = mem_array(count, sizeof *e->before);
    if (spec->average && !spec->frozen)
        nn_average_init(&e->average, e->net);
    encoder->ops = &ops;
    encoder->self = e;
    e->of = *encoder;
    return 0;

out:
    native_close(e);
    *encoder = (struct train_encoder){0};
    return -1;
}

struct train_native *
train_native(const struct train_encoder *encoder)
{
    return encoder->ops && encoder->ops->get == native_get ? encoder->self
                                                           : NULL;
}
