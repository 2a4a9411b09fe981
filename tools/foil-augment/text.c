#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/opt.h"

#include "text.h"

void
augment_text_open(struct augment_text *text,
                  const struct augment_options *options,
                  const struct data_set *set)
{
    struct err err;

    *text = (struct augment_text){.options = options, .set = set};
    if (!options->vocabulary)
        return;
    text->vocabulary = data_vocabulary_open(options->vocabulary, &err);
    if (!text->vocabulary)
        die("%s", err.msg);
    if (data_check(set, &err))
        die("%s", err.msg);
    text->most = data_captions_most(set);
    if (!text->most)
        die("'%s' has no captions", options->data);
}

void
augment_text_close(struct augment_text *text)
{
    data_vocabulary_free(text->vocabulary);
    free(text->tokens);
    free(text->lengths);
    free(text->captions);
    free(text->extra_tokens);
    free(text->extra_lengths);
}

void
augment_text_recipe(const struct augment_text *text,
                    char recipe[AUGMENT_RECIPE])
{
    const size_t n = strlen(recipe);
    struct digest digest;
    char hex[DIGEST_HEX];

    if (!text->vocabulary)
        return;
    digest = data_vocabulary_digest(text->vocabulary);
    snprintf(recipe + n, AUGMENT_RECIPE - n, ",vocabulary=%.8s,%zu",
             digest_hex(&digest, hex), text->options->text.context);
}

/* Takes the columns that no row uses from rows of `context` tokens. */
static void
drop_columns(int32_t *tokens, size_t n, size_t context, size_t len)
{
    for (size_t i = 1; i < n; i++)
        memmove(tokens + i * len, tokens + i * context, len * sizeof *tokens);
}

static size_t
longest_of(size_t n, const int32_t *lengths, size_t least)
{
    for (size_t i = 0; i < n; i++)
        if ((size_t)lengths[i] > least)
            least = (size_t)lengths[i];
    return least;
}

/* One caption of each sample. */
static void
make_captions(struct augment_text *text, const struct batch *batch,
              uint64_t seed)
{
    const struct data_captions_how *how = &text->options->text;
    const uint64_t epoch = (uint64_t)batch->epoch;

    mem_grow(&text->tokens, &text->tokens_room, batch->b * how->context,
             sizeof *text->tokens);
    mem_grow(&text->lengths, &text->lengths_room, batch->b,
             sizeof *text->lengths);
    mem_grow(&text->captions, &text->captions_room, batch->b,
             sizeof *text->captions);
    for (size_t i = 0; i < batch->b; i++) {
        const size_t id = (size_t)batch->ids[i];
        const size_t k = data_captions_draw(
            how->caption, seed, id, epoch,
            data_captions_count(data_caption(text->set, id)));

        text->captions[i] = (int32_t)k;
        text->lengths[i] = (int32_t)data_captions_row(
            data_caption(text->set, id), id, k, how, seed, epoch,
            text->vocabulary, text->tokens + i * how->context);
    }
}

/* Captions that the item names. */
static void
make_extra(struct augment_text *text, const struct batch *batch, uint64_t seed)
{
    const struct data_captions_how *how = &text->options->text;
    const int all = how->caption == DATA_CAPTION_ALL;

    mem_grow(&text->extra_tokens, &text->extra_tokens_room,
             batch->extra.n_texts * how->context, sizeof *text->extra_tokens);
    mem_grow(&text->extra_lengths, &text->extra_lengths_room,
             batch->extra.n_texts, sizeof *text->extra_lengths);
    for (size_t i = 0; i < batch->extra.n_texts; i++) {
        const size_t id = (size_t)batch->extra.texts[2 * i],
                     k = (size_t)batch->extra.texts[2 * i + 1],
                     count = data_captions_count(data_caption(text->set, id));

        if (k >= (all && count ? 1 : count))
            die("an item wants caption %zu of sample '%s', which has %zu", k,
                data_name(text->set, id), count);
        text->extra_lengths[i] = (int32_t)data_captions_row(
            data_caption(text->set, id), id, k, how, seed,
            (uint64_t)batch->epoch, text->vocabulary,
            text->extra_tokens + i * how->context);
    }
}

void
augment_text_make(struct augment_text *text, uint64_t seed,
                  struct wire_batch *made)
{
    const size_t context = text->options->text.context;
    struct batch *batch = &made->batch;
    const size_t s = batch->extra.n_texts;
    size_t len;

    if (!text->vocabulary) {
        batch->extra.n_texts = 0;
        batch->extra.texts = NULL;
        return;
    }
    make_captions(text, batch, seed);
    make_extra(text, batch, seed);
    len = longest_of(batch->b, text->lengths, 0);
    len = longest_of(s, text->extra_lengths, len);
    drop_columns(text->tokens, batch->b, context, len);
    drop_columns(text->extra_tokens, s, context, len);
    batch->texts = (int64_t)text->most;
    batch->captions = text->captions;
    made->n_tokens = len;
    made->vocabulary = (int64_t)data_vocabulary_size(text->vocabulary);
    made->tokens = text->tokens;
    made->lengths = text->lengths;
    made->extra_tokens = s ? text->extra_tokens : NULL;
    made->extra_lengths = s ? text->extra_lengths : NULL;
}
