#include <math.h>
#include <string.h>

#include "embed.h"
#include "num/vec.h"

static size_t
rows_of_batch(const struct batch *batch)
{
    return 2 * batch->b + batch->extra.n;
}

/* The rows of the embedding table for a batch: those of its views, or fixed
 * ones. */
static void
find_table_rows(struct train_learner *learner, const struct batch *batch)
{
    const size_t views = learner->spec.table_views, anchors = 2 * batch->b;
    int32_t *rows = learner->table_rows;

    for (size_t r = 0; r < anchors; r++)
        rows[r] = (int32_t)((size_t)batch->ids[r % batch->b] * views +
                            (batch->fixed ? (size_t)batch->view_of[r]
                                          : r / batch->b));
    for (size_t i = 0; i < batch->extra.n; i++) {
        const int64_t view = batch->extra.view ? batch->extra.view[i] : -1;

        rows[anchors + i] = (int32_t)((size_t)batch->extra.ids[i] * views +
                                      (view > 0 ? (size_t)view % views : 0));
    }
}

/* The images of a batch in one block: views, then the extra ones. */
static const uint8_t *
images_of(struct train_learner *learner, const struct batch *batch)
{
    const size_t image = learner->spec.encoder[0]->image;
    const size_t anchors = 2 * batch->b * image;

    if (!batch->extra.n)
        return batch->pixels;
    memcpy(learner->pixels, batch->pixels, anchors);
    memcpy(learner->pixels + anchors, batch->extra.pixels,
           batch->extra.n * image);
    return learner->pixels;
}

/* Encodes all rows by one encoder. */
static int
encode_by_one(struct train_learner *learner, const struct batch *batch,
              enum nn_mode mode, struct err *err)
{
    struct nn_input input = {.n = rows_of_batch(batch),
                             .ids = learner->table_rows};

    if (learner->table_rows)
        find_table_rows(learner, batch);
    else
        input.images = images_of(learner, batch);
    return train_encoder_forward(learner->spec.encoder[0], &input, mode,
                                 learner->z, err);
}

/* Encodes each view, or the texts, by its own encoder; extra texts with the
 * texts. */
static int
encode_by_two(struct train_learner *learner, const struct batch *batch,
              enum nn_mode mode, struct err *err)
{
    const uint8_t *images = batch->pixels;

    REQUIRE(!batch->extra.n || batch->tokens);
    for (size_t k = 0; k < TRAIN_ENCODERS; k++) {
        struct train_encoder *encoder = learner->spec.encoder[k];
        const struct nn_input input = {.n = batch->b + (k ? batch->extra.n : 0),
                                       .images = images,
                                       .ids = batch->tokens,
                                       .offsets = batch->offsets};

        if (train_encoder_forward(encoder, &input, mode,
                                  learner->z + k * batch->b * learner->dim,
                                  err))
            return -1;
        images += batch->b * encoder->image;
    }
    return 0;
}

int
train_learner_embed(struct train_learner *learner, const struct batch *batch,
                    enum nn_mode mode, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;

    REQUIRE(batch->b <= learner->spec.images &&
            batch->extra.n <= learner->spec.extra);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        struct batch own = *batch;

        if (!k && encoder[1])
            own.extra.n = 0; // these are texts
        train_encoder_announce(encoder[k], &own);
    }
    if (learner->spec.encoder[1] ? encode_by_two(learner, batch, mode, err)
                                 : encode_by_one(learner, batch, mode, err))
        return -1;
    num_unit_rows(rows_of_batch(batch), learner->dim, learner->z, learner->v,
                  NULL);
    return 0;
}

int
train_learner_finite(const struct train_learner *learner,
                     const struct batch *batch)
{
    return num_finite(rows_of_batch(batch) * learner->dim, learner->z);
}

int
train_learner_backward(struct train_learner *learner, const struct batch *batch,
                       double *length, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    void (*prefetch)(void *) = learner->spec.prefetch;
    const int early = train_encoder_prefetches_early(encoder[0]);
    double own;

    if (prefetch && early)
        prefetch(learner->spec.tool);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++)
        if (train_encoder_backward(encoder[k],
                                   learner->encoder_has_dz
                                       ? NULL
                                       : learner->dz +
                                             k * batch->b * learner->dim,
                                   err))
            return -1;
    if (prefetch && !early)
        prefetch(learner->spec.tool);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        if (train_encoder_norm(encoder[k], &own, err))
            return -1;
        *length = k ? hypot(*length, own) : own;
    }
    return 0;
}

void
train_learner_prefetch(struct train_learner *learner, const struct batch *batch)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    const uint8_t *images = batch->pixels;

    if (learner->table_rows || batch->b > learner->spec.images ||
        (batch->extra.n && !encoder[1]))
        return;
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        const struct nn_input input = {
            .n = encoder[1] ? batch->b : 2 * batch->b, .images = images};

        if (encoder[k]->kind == NN_IMAGES)
            train_encoder_prefetch(encoder[k], &input);
        images += batch->b * encoder[k]->image;
    }
}
