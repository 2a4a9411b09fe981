#include <string.h>

#include "num/vec.h"
#include "train.h"

/* Which rows of a table a batch is: the views' own, or fixed ones. */
static void
pick(struct train *t, const struct wire_batch *b)
{
    const struct wire_variants *variants = &b->variants;
    const size_t views = t->shape.views, anchors = 2 * b->n;

    for (size_t r = 0; r < anchors; r++)
        t->keys[r] =
            (size_t)b->ids[r % b->n] * views +
            (variants->augmentations ? (size_t)variants->variant[r] : r / b->n);
    for (size_t i = 0; i < b->n_extra; i++) {
        const int64_t view = b->of_extra.view ? b->of_extra.view[i] : -1;

        t->keys[anchors + i] = (size_t)b->extra_ids[i] * views +
                               (view > 0 ? (size_t)view % views : 0);
    }
}

/* The images of a batch in one block: views, and the extra ones behind. */
static const uint8_t *
pixels(struct train *t, const struct wire_batch *b)
{
    const size_t image = b->height * b->width * b->channels;
    const size_t anchors = 2 * b->n * image;

    if (t->keys || !b->n_extra)
        return b->views;
    memcpy(t->pixels, b->views, anchors);
    memcpy(t->pixels + anchors, b->extra, b->n_extra * image);
    return t->pixels;
}

/* The rows [from,to) of micro-batch i: as few as can be, as even as can be. */
struct part {
    size_t from, to;
};

static size_t
parts(const struct train *t)
{
    return (t->n_rows + t->micro - 1) / t->micro;
}

static struct part
part(const struct train *t, size_t i)
{
    const size_t n = parts(t);

    return (struct part){t->n_rows * i / n, t->n_rows * (i + 1) / n};
}

static void
forward(struct train *t, const struct wire_batch *b, struct part rows,
        enum nn_mode mode, float *z)
{
    const size_t image = b->height * b->width * b->channels;

    if (t->keys)
        nn_net_pick(t->net, t->keys + rows.from);
    nn_net_forward_as(t->net, mode, rows.to - rows.from,
                      t->images + rows.from * image, NULL, z);
}

void
train_encode(struct train *t, const struct wire_batch *b, enum nn_mode last)
{
    const size_t d = nn_net_dim(t->net);

    t->n_rows = 2 * b->n + b->n_extra;
    t->images = pixels(t, b);
    if (t->keys)
        pick(t, b);
    for (size_t i = 0; i < parts(t); i++) {
        const struct part rows = part(t, i);

        forward(t, b, rows, i + 1 < parts(t) ? NN_LOOK : last,
                t->z + rows.from * d);
    }
    num_unit_rows(t->n_rows, d, t->z, t->v, NULL);
}

void
train_encode_back(struct train *t, const struct wire_batch *b)
{
    const size_t d = nn_net_dim(t->net);

    for (size_t i = parts(t); i-- > 0;) {
        const struct part rows = part(t, i);
        const int last = i + 1 == parts(t);

        if (!last) // whose activations are there still
            forward(t, b, rows, NN_MOVE, NULL);
        nn_net_backward(t->net, t->dz + rows.from * d, !last);
    }
}
