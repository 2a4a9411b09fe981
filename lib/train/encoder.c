#include "train/encoder.h"
#include "num/vec.h"

void
train_encoder_init(struct train_encoder *encoder,
                   const struct train_encoder_spec *spec)
{
    const size_t rows = spec->rows, micro = spec->micro;
    const struct nn_spec *net = &spec->net;

    *encoder = (struct train_encoder){
        .rows = rows,
        .micro = micro && micro < rows ? micro : rows,
        .image = net->height * net->image_width * net->channels,
        .views = spec->views,
        .small = spec->small,
        .small_image =
            spec->small ? spec->small_height * spec->small_width * net->channels
                        : 0,
        .frozen = spec->frozen,
    };
}

size_t
train_encoder_large(const struct train_encoder *encoder, size_t n)
{
    const size_t views = encoder->views;

    return encoder->small ? n / views * (views - encoder->small) : n;
}

void
train_encoder_close(struct train_encoder *encoder)
{
    if (encoder->ops)
        encoder->ops->close(encoder->self);
    *encoder = (struct train_encoder){0};
}

/* The rows [from,to) of a micro-batch; there are as few as possible, of equal
 * size. */
struct part {
    size_t from, to;
};

static size_t
count_parts(const struct train_encoder *encoder)
{
    return (encoder->n + encoder->micro - 1) / encoder->micro;
}

static struct part
part_at(const struct train_encoder *encoder, size_t i)
{
    const size_t rows = encoder->n, n = count_parts(encoder);

    return (struct part){rows * i / n, rows * (i + 1) / n};
}

/* A frozen encoder is always in evaluation mode. */
static int
forward_part(struct train_encoder *encoder, struct part rows, enum nn_mode mode,
             float *z, struct err *err)
{
    return encoder->ops->forward(encoder->self, rows.from, rows.to,
                                 encoder->frozen ? NN_FIXED : mode, z, err);
}

int
train_encoder_forward(struct train_encoder *encoder,
                      const struct nn_input *input, enum nn_mode mode, float *z,
                      struct err *err)
{
    REQUIRE(input->n >= 1 && input->n <= encoder->rows);
    encoder->n = input->n;
    if (encoder->ops->take(encoder->self, input, err))
        return -1;
    for (size_t i = 0; i < count_parts(encoder); i++) {
        const struct part rows = part_at(encoder, i);

        if (forward_part(encoder, rows,
                         i + 1 < count_parts(encoder) ? NN_ENCODE : mode,
                         z + rows.from * encoder->dim, err))
            return -1;
    }
    return 0;
}

int
train_encoder_backward(struct train_encoder *encoder, const float *dz,
                       struct err *err)
{
    for (size_t i = encoder->frozen ? 0 : count_parts(encoder); i-- > 0;) {
        const struct part rows = part_at(encoder, i);
        const int last = i + 1 == count_parts(encoder);

        // the last micro-batch still has its activations
        if (!last && forward_part(encoder, rows, NN_TRAIN, NULL, err))
            return -1;
        if (encoder->ops->backward(encoder->self, rows.from, rows.to, !last,
                                   dz ? dz + rows.from * encoder->dim : NULL,
                                   err))
            return -1;
    }
    return 0;
}

void
train_encoder_defer(struct train_encoder *encoder)
{
    encoder->ops->defer(encoder->self);
}

int
train_encoder_sums(struct train_encoder *encoder, const struct train_sums *want,
                   const struct loss_sums **sums, float **coefficient,
                   struct err *err)
{
    return encoder->ops->sums(encoder->self, want, sums, coefficient, err);
}

int
train_encoder_take(struct train_encoder *encoder, struct err *err)
{
    return encoder->ops->sums(encoder->self, NULL, NULL, NULL, err);
}

void
train_encoder_announce(struct train_encoder *encoder, const struct batch *batch)
{
    if (encoder->ops->announce)
        encoder->ops->announce(encoder->self, batch);
}

int
train_encoder_loss(struct train_encoder *encoder,
                   const struct loss_batch *batch, struct loss_report *report,
                   struct err *err)
{
    REQUIRE(encoder->ops->loss);
    return encoder->ops->loss(encoder->self, batch, report, err);
}

void
train_encoder_prefetch(struct train_encoder *encoder,
                       const struct nn_input *input)
{
    if (encoder->ops->prefetch)
        encoder->ops->prefetch(encoder->self, input);
}

int
train_encoder_norm(const struct train_encoder *encoder, double *length,
                   struct err *err)
{
    *length = 0;
    return encoder->frozen ? 0 : encoder->ops->norm(encoder->self, length, err);
}

int
train_encoder_update(struct train_encoder *encoder, double rate,
                     struct err *err)
{
    return encoder->frozen ? 0 : encoder->ops->update(encoder->self, rate, err);
}

void
train_encoder_update_early(struct train_encoder *encoder, double rate,
                           const struct batch *next)
{
    encoder->ops->update_early(encoder->self, rate, next);
}

int
train_encoder_average(struct train_encoder *encoder, struct err *err)
{
    return encoder->frozen ? 0 : encoder->ops->average(encoder->self, err);
}

void
train_encoder_undo(struct train_encoder *encoder)
{
    encoder->ops->undo(encoder->self);
}

int
train_encoder_stats_finite(const struct train_encoder *encoder)
{
    return encoder->ops->stats_finite(encoder->self);
}

int
train_encoder_get(struct train_encoder *encoder, struct nn_weights *blocks,
                  struct err *err)
{
    long steps;

    return encoder->ops->get(encoder->self, blocks, &steps, err);
}

int
train_encoder_put(struct train_encoder *encoder, struct err *err)
{
    return encoder->ops->put ? encoder->ops->put(encoder->self, err) : 0;
}

/* Checks the weights and the moments of the optimiser. */
static int
encoder_prepare(void *self, struct err *err)
{
    struct train_encoder *encoder = self;
    const struct train_encoder_ops *ops = encoder->ops;
    struct nn_weights blocks;

    if (train_encoder_get(encoder, &blocks, err))
        return -1;
    for (size_t i = 0; i < blocks.n; i++) {
        const struct nn_tensor *t = blocks.tensor + i;

        if (!num_finite(t->count,
                        (t->statistic ? blocks.statistics : blocks.params) +
                            t->offset))
            return err_set(err, "the weights are not finite: not saved");
    }
    return ops->check ? ops->check(encoder->self, err) : 0;
}

static int
encoder_save(void *self, const char *folder, struct err *err)
{
    const struct train_encoder *encoder = self;
    const struct train_encoder_ops *ops = encoder->ops;
    struct nn_weights blocks;
    long steps;

    // a program may have written more than its own file
    if (ops->save(encoder->self, folder, err) ||
        ops->get(encoder->self, &blocks, &steps, err))
        return -1;
    return nn_weights_save(folder, &blocks, steps, err);
}

static int
encoder_load(void *self, const char *folder, struct err *err)
{
    struct train_encoder *encoder = self;
    struct nn_weights blocks;

    if (train_encoder_get(encoder, &blocks, err) ||
        nn_weights_load(folder, &blocks, err) ||
        train_encoder_put(encoder, err))
        return -1;
    return encoder->ops->load(encoder->self, folder, err);
}

int
train_encoder_start(struct train_encoder *encoder, const char *path,
                    char **left, struct err *err)
{
    return encoder->ops->init(encoder->self, path, left, err);
}

char *
train_encoder_table(const struct train_encoder *encoder)
{
    return encoder->ops->table(encoder->self);
}

struct train_part
train_encoder_part(struct train_encoder *encoder)
{
    return (struct train_part){.self = encoder,
                               .prepare = encoder_prepare,
                               .save = encoder_save,
                               .load = encoder_load,
                               .revert = encoder_load};
}
