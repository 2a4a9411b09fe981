#include <math.h>
#include <string.h>

#include "embed.h"
#include "num/vec.h"

static size_t
rows_of_batch(const struct train_batch *b)
{
    return 2 * b->n + b->n_extra;
}

/* Which rows of a table a batch is: the views' own, or fixed ones. */
static void
find_table_rows(struct train_learner *learner, const struct train_batch *b)
{
    const size_t views = learner->spec.table_views, anchors = 2 * b->n;
    int32_t *rows = learner->table_rows;

    for (size_t r = 0; r < anchors; r++)
        rows[r] = (int32_t)((size_t)b->ids[r % b->n] * views +
                            (b->fixed ? (size_t)b->view_of[r] : r / b->n));
    for (size_t i = 0; i < b->n_extra; i++) {
        const int64_t view = b->extra_view ? b->extra_view[i] : -1;

        rows[anchors + i] = (int32_t)((size_t)b->extra_ids[i] * views +
                                      (view > 0 ? (size_t)view % views : 0));
    }
}

/* The images of a batch in one block: views, and the extra ones behind. */
static const uint8_t *
images_of(struct train_learner *learner, const struct train_batch *b)
{
    const size_t image = learner->spec.encoder[0]->image;
    const size_t anchors = 2 * b->n * image;

    if (!b->n_extra)
        return b->views;
    memcpy(learner->pixels, b->views, anchors);
    memcpy(learner->pixels + anchors, b->extra, b->n_extra * image);
    return learner->pixels;
}

/* All rows through the only encoder. */
static int
encode_by_one(struct train_learner *learner, const struct train_batch *b,
              enum nn_mode mode, struct err *err)
{
    struct nn_input input = {.n = rows_of_batch(b), .ids = learner->table_rows};

    if (learner->table_rows)
        find_table_rows(learner, b);
    else
        input.images = images_of(learner, b);
    return train_encoder_forward(learner->spec.encoder[0], &input, mode,
                                 learner->z, err);
}

/* Each view, or the texts, through its own; further texts with the texts. */
static int
encode_by_two(struct train_learner *learner, const struct train_batch *b,
              enum nn_mode mode, struct err *err)
{
    const uint8_t *images = b->views;

    REQUIRE(!b->n_extra || b->tokens);
    for (size_t k = 0; k < TRAIN_ENCODERS; k++) {
        struct train_encoder *encoder = learner->spec.encoder[k];
        const struct nn_input input = {.n = b->n + (k ? b->n_extra : 0),
                                       .images = images,
                                       .ids = b->tokens,
                                       .offsets = b->offsets};

        if (train_encoder_forward(encoder, &input, mode,
                                  learner->z + k * b->n * learner->dim, err))
            return -1;
        images += b->n * encoder->image;
    }
    return 0;
}

int
train_learner_embed(struct train_learner *learner, const struct train_batch *b,
                    enum nn_mode mode, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;

    REQUIRE(b->n <= learner->spec.images && b->n_extra <= learner->spec.extra);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        struct train_batch own = *b;

        if (!k && encoder[1])
            own.n_extra = 0; // these are texts
        train_encoder_announce(encoder[k], &own);
    }
    if (learner->spec.encoder[1] ? encode_by_two(learner, b, mode, err)
                                 : encode_by_one(learner, b, mode, err))
        return -1;
    num_unit_rows(rows_of_batch(b), learner->dim, learner->z, learner->v, NULL);
    return 0;
}

int
train_learner_finite(const struct train_learner *learner,
                     const struct train_batch *b)
{
    return num_finite(rows_of_batch(b) * learner->dim, learner->z);
}

int
train_learner_back(struct train_learner *learner, const struct train_batch *b,
                   double *length, struct err *err)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    void (*meanwhile)(void *) = learner->spec.meanwhile;
    const int early = train_encoder_early(encoder[0]);
    double own;

    if (meanwhile && early)
        meanwhile(learner->spec.tool);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++)
        if (train_encoder_backward(encoder[k],
                                   learner->elsewhere
                                       ? NULL
                                       : learner->dz + k * b->n * learner->dim,
                                   err))
            return -1;
    if (meanwhile && !early)
        meanwhile(learner->spec.tool);
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        if (train_encoder_norm(encoder[k], &own, err))
            return -1;
        *length = k ? hypot(*length, own) : own;
    }
    return 0;
}

void
train_learner_expect(struct train_learner *learner, const struct train_batch *b)
{
    struct train_encoder *const *encoder = learner->spec.encoder;
    const uint8_t *images = b->views;

    if (learner->table_rows || b->n > learner->spec.images ||
        (b->n_extra && !encoder[1]))
        return;
    for (size_t k = 0; k < TRAIN_ENCODERS && encoder[k]; k++) {
        const struct nn_input input = {.n = encoder[1] ? b->n : 2 * b->n,
                                       .images = images};

        if (encoder[k]->kind == NN_IMAGES)
            train_encoder_expect(encoder[k], &input);
        images += b->n * encoder[k]->image;
    }
}
