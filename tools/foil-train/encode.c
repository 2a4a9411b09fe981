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

void
train_encode(struct train *t, const struct wire_batch *b, enum nn_mode mode)
{
    const size_t rows = 2 * b->n + b->n_extra;
    const struct train_input input = {rows, pixels(t, b), t->keys};

    if (t->keys)
        pick(t, b);
    train_encoder_forward(&t->encoder, &input, mode, t->z);
    num_unit_rows(rows, t->encoder.dim, t->z, t->v, NULL);
}
