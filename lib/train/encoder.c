#include <stdlib.h>
#include <string.h>

#include "nn/model.h"
#include "num/vec.h"
#include "train/encoder.h"
#include "util/mem.h"

int
train_encoder_open(struct train_encoder *encoder,
                   const struct train_encoder_spec *spec, struct err *err)
{
    const size_t rows = spec->rows, micro = spec->micro;
    const struct nn_tensor *tensors;
    size_t n, count;

    *encoder = (struct train_encoder){
        .rows = rows, .micro = micro && micro < rows ? micro : rows};
    encoder->net = nn_net_new(&spec->net, encoder->micro, !spec->locked, err);
    if (!encoder->net)
        return -1;
    tensors = nn_net_tensors(encoder->net, &n);
    nn_net_params(encoder->net, &count);
    if (!spec->locked)
        encoder->optim = nn_optim_new(&spec->optim, tensors, n, count, err);
    if (!spec->locked && !encoder->optim) {
        train_encoder_close(encoder);
        return -1;
    }
    nn_net_init(encoder->net, spec->seed);
    encoder->dim = nn_net_dim(encoder->net);
    encoder->image =
        spec->net.height * spec->net.image_width * spec->net.channels;
    nn_net_running(encoder->net, &count);
    encoder->before = mem_array(count, sizeof *encoder->before);
    if (spec->average && !spec->locked)
        nn_average_init(&encoder->average, encoder->net);
    return 0;
}

void
train_encoder_close(struct train_encoder *encoder)
{
    nn_net_free(encoder->net);
    nn_optim_free(encoder->optim);
    free(encoder->before);
    nn_average_release(&encoder->average);
    *encoder = (struct train_encoder){0};
}

/* The rows [from,to) of micro-batch i: as few as can be, as even as can be. */
struct part {
    size_t from, to;
};

static size_t
parts(const struct train_encoder *encoder)
{
    return (encoder->input.n + encoder->micro - 1) / encoder->micro;
}

static struct part
part(const struct train_encoder *encoder, size_t i)
{
    const size_t rows = encoder->input.n, n = parts(encoder);

    return (struct part){rows * i / n, rows * (i + 1) / n};
}

static void
forward(struct train_encoder *encoder, struct part rows, enum nn_mode mode,
        float *z)
{
    struct nn_input input = encoder->input;

    input.n = rows.to - rows.from;
    switch (nn_net_kind(encoder->net)) {
    case NN_IMAGES:
        input.images += rows.from * encoder->image;
        break;
    case NN_ROWS:
        input.rows += rows.from * encoder->image;
        break;
    case NN_IDS:
        input.ids += rows.from;
        break;
    case NN_TOKENS:
        input.offsets += rows.from;
        break;
    }
    if (encoder->optim)
        nn_net_forward(encoder->net, mode, &input, NULL, z);
    else
        nn_net_infer(encoder->net, &input, NULL, z);
}

void
train_encoder_forward(struct train_encoder *encoder,
                      const struct nn_input *input, enum nn_mode mode, float *z)
{
    size_t n;
    const float *statistics = nn_net_running(encoder->net, &n);

    REQUIRE(input->n >= 1 && input->n <= encoder->rows);
    encoder->input = *input;
    memcpy(encoder->before, statistics, n * sizeof *statistics);
    for (size_t i = 0; i < parts(encoder); i++) {
        const struct part rows = part(encoder, i);

        forward(encoder, rows, i + 1 < parts(encoder) ? NN_ENCODE : mode,
                z + rows.from * encoder->dim);
    }
}

void
train_encoder_backward(struct train_encoder *encoder, const float *dz)
{
    for (size_t i = encoder->optim ? parts(encoder) : 0; i-- > 0;) {
        const struct part rows = part(encoder, i);
        const int last = i + 1 == parts(encoder);

        if (!last) // whose activations are there still
            forward(encoder, rows, NN_TRAIN, NULL);
        nn_net_backward(encoder->net, dz + rows.from * encoder->dim, !last);
    }
}

double
train_encoder_norm(const struct train_encoder *encoder)
{
    return encoder->optim
               ? nn_optim_norm(encoder->optim, nn_net_grads(encoder->net))
               : 0;
}

void
train_encoder_update(struct train_encoder *encoder, double rate)
{
    if (encoder->optim)
        nn_optim_step(encoder->optim, rate, nn_net_params(encoder->net, NULL),
                      nn_net_grads(encoder->net));
}

void
train_encoder_average(struct train_encoder *encoder)
{
    if (encoder->average.mean)
        nn_average_add(&encoder->average, encoder->net);
}

void
train_encoder_undo(struct train_encoder *encoder)
{
    size_t n;
    float *statistics = nn_net_running(encoder->net, &n);

    memcpy(statistics, encoder->before, n * sizeof *statistics);
}

int
train_encoder_steady(struct train_encoder *encoder)
{
    size_t n;
    const float *statistics = nn_net_running(encoder->net, &n);

    return num_finite(n, statistics);
}

/* None of a locked one. */
static struct nn_moments
moments_of(const struct train_encoder *encoder)
{
    return encoder->optim ? nn_optim_moments(encoder->optim)
                          : (struct nn_moments){.n = 0};
}

int
train_encoder_finite(struct train_encoder *encoder)
{
    const struct nn_moments m = moments_of(encoder);
    size_t n;
    const float *params = nn_net_params(encoder->net, &n);
    int finite = num_finite(n, params) && train_encoder_steady(encoder);

    for (size_t k = 0; k < m.n; k++)
        finite &= num_finite(n, m.block[k]);
    return finite;
}

int
train_encoder_save(struct train_encoder *encoder, const char *folder,
                   struct err *err)
{
    const long *steps = moments_of(encoder).steps;

    if (nn_model_save(folder, encoder->net, steps ? *steps : 0, err) ||
        nn_average_save(folder, encoder->net, &encoder->average, err))
        return -1;
    return encoder->optim
               ? nn_optim_save(folder, encoder->net, encoder->optim, err)
               : 0;
}

int
train_encoder_load(struct train_encoder *encoder, const char *folder,
                   struct err *err)
{
    if (nn_model_load(folder, encoder->net, err) ||
        (encoder->average.mean &&
         nn_average_load(folder, encoder->net, &encoder->average, err)))
        return -1;
    return encoder->optim
               ? nn_optim_load(folder, encoder->net, encoder->optim, err)
               : 0;
}

static int
part_prepare(void *self, struct err *err)
{
    return train_encoder_finite(self)
               ? 0
               : err_set(err, "the weights are not finite: not saved");
}

static int
part_save(void *self, const char *folder, struct err *err)
{
    return train_encoder_save(self, folder, err);
}

static int
part_load(void *self, const char *folder, struct err *err)
{
    return train_encoder_load(self, folder, err);
}

struct train_part
train_encoder_part(struct train_encoder *encoder)
{
    return (struct train_part){.name = "encoder",
                               .self = encoder,
                               .prepare = part_prepare,
                               .save = part_save,
                               .load = part_load,
                               .revert = part_load};
}
