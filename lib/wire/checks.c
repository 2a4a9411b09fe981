#include <string.h>

#include "util/digest.h"
#include "wire/batch.h"
#include "wire/hello.h"
#include "wire/negatives.h"
#include "wire/progress.h"

#include "codec_impl.h"

/* How far the sum of a row of f4 may be from 1. */
static const double slack = 1e-3;

void
wire_check_hello(struct wire_decoder *d)
{
    const struct wire_hello *hello = d->x;
    struct digest digest;

    if (*hello->digest && digest_from_hex(&digest, hello->digest))
        wire_read_fail(&d->r, "'digest' is not 32 hexadecimal digits");
    if (!*hello->digest != !hello->size)
        wire_read_fail(&d->r, "a data set has a digest and images, or neither");
}

void
wire_check_weights(struct wire_decoder *d)
{
    const struct weights *weights =
        &((const struct wire_weights *)d->x)->weights;
    const double least = weights->partial ? 0 : 1 - slack;

    for (size_t i = 0; i < weights->rows; i++) {
        const float *row = weights->w + i * weights->columns;
        double sum = 0;
        int negative = 0;

        for (size_t j = 0; j < weights->columns; j++) {
            negative |= row[j] < 0;
            sum += row[j];
        }
        if (!negative && sum <= 1 + slack && sum >= least)
            continue;
        wire_read_fail(&d->r, "row %zu of w is not a set of weights: sum %g", i,
                       sum);
        return;
    }
}

void
wire_check_state(struct wire_decoder *d)
{
    const struct wire_state *state = d->x;
    size_t pieces = 0;

    for (size_t i = 0; i < state->n; i++) {
        const struct table_rows *t = &state->tables[i];

        pieces += t->n > 0;
        if (t->n && (t->n > t->rows || (uint64_t)state->from > t->rows - t->n))
            wire_read_fail(&d->r, "rows %jd .. of table '%s' exceed its %zu",
                           (intmax_t)state->from, t->name, t->rows);
        if (t->n > 1 && t->n > TABLE_PIECE_MAX / t->width)
            wire_read_fail(&d->r,
                           "%zu rows of table '%s' are more than %d bytes",
                           t->n, t->name, TABLE_PIECE_MAX);
    }
    if (pieces > 1)
        wire_read_fail(&d->r, "rows of %zu tables in one piece", pieces);
}

/* Rows (sample, caption); a sample has `most` captions at most. */
static void
check_texts(struct wire_reader *r, size_t n, const int64_t *texts, int64_t size,
            int64_t most)
{
    for (size_t i = 0; texts && i < n; i++) {
        const int64_t id = texts[2 * i], caption = texts[2 * i + 1];

        if (id < 0 || (size && id >= size) || caption < 0 || caption >= most)
            wire_read_fail(r, "row %zu of extra_texts is caption %jd of %jd", i,
                           (intmax_t)caption, (intmax_t)id);
    }
}

void
wire_check_item(struct wire_decoder *d)
{
    const struct wire_item *item = d->x;

    if (d->size && item->size != d->size)
        wire_read_fail(&d->r, "data set of %jd images, ours has %jd",
                       (intmax_t)item->size, (intmax_t)d->size);
    check_texts(&d->r, item->batch.extra.n_texts, item->batch.extra.texts,
                item->size, WIRE_CAPTIONS_MAX);
}

static void
check_lengths(struct wire_reader *r, size_t n, const int32_t *lengths,
              size_t len)
{
    for (size_t i = 0; lengths && i < n; i++)
        if ((size_t)lengths[i] > len)
            wire_read_fail(r, "a text of %d tokens, in rows of %zu", lengths[i],
                           len);
}

void
wire_check_batch(struct wire_decoder *d)
{
    const struct wire_batch *batch = d->x;

    check_lengths(&d->r, batch->batch.b, batch->lengths, batch->n_tokens);
    check_lengths(&d->r, batch->batch.extra.n_texts, batch->extra_lengths,
                  batch->n_tokens);
    if (batch->batch.extra.texts && !batch->tokens)
        wire_read_fail(&d->r, "extra_texts without tokens");
    check_texts(&d->r, batch->batch.extra.n_texts, batch->batch.extra.texts,
                d->size, batch->batch.most_captions);
}

void
wire_check_request(struct wire_decoder *d)
{
    const struct wire_weights_request *request = d->x;
    const struct batch *batch = &request->batch;

    if (!strcmp(request->kind, "pair") &&
        (batch->v != 2 || !batch->most_captions))
        wire_read_fail(&d->r, "kind pair needs 2 views, and captions");
    check_texts(&d->r, batch->extra.n_texts, batch->extra.texts, d->size,
                batch->most_captions ? batch->most_captions
                                     : WIRE_CAPTIONS_MAX);
}

void
wire_check_want(struct wire_decoder *d)
{
    const struct wire_want *want = d->x;

    for (size_t i = 0; want->have && i < want->n_have; i++) {
        const int64_t *at = want->have + 2 * i;

        if (at[0] < 0 || at[0] >= WIRE_EPOCH_MAX || at[1] < 0 ||
            at[1] >= WIRE_STEP_MAX)
            wire_read_fail(&d->r, "row %zu of have is not a place", i);
        else if (i && (at[0] < at[-2] || (at[0] == at[-2] && at[1] <= at[-1])))
            wire_read_fail(&d->r, "row %zu of have is not after the one before",
                           i);
    }
    if ((int64_t)want->n_have > want->window)
        wire_read_fail(&d->r, "%zu places are held of a window of %jd",
                       want->n_have, (intmax_t)want->window);
}
