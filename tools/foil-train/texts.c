#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/vocabulary.h"
#include "train.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"

int
train_texts_read(struct train_texts *texts, const char *path, size_t *size,
                 struct err *err)
{
    struct text_vocabulary *vocabulary = text_vocabulary_open(path, err);
    char hex[DIGEST_HEX];

    if (!vocabulary)
        return -1;
    snprintf(texts->digest, sizeof texts->digest, "%.8s",
             digest_hex(text_vocabulary_digest(vocabulary), hex));
    texts->file = text_vocabulary_text(vocabulary, &texts->bytes);
    *size = text_vocabulary_size(vocabulary);
    texts->end = text_vocabulary_end(vocabulary);
    text_vocabulary_free(vocabulary);
    return 0;
}

void
train_texts_release(struct train_texts *texts)
{
    free(texts->file);
    arena_release(&texts->arrays);
    *texts = (struct train_texts){0};
}

int
train_texts_check_recipe(const struct train_texts *texts, const char *recipe,
                         struct err *err)
{
    static const char key[] = "vocabulary=";
    const char *theirs = texts->file ? strstr(recipe, key) : NULL;

    if (!theirs)
        return 0;
    theirs += strlen(key);
    if (!strncmp(theirs, texts->digest, strlen(texts->digest)))
        return 0;
    return err_set(err,
                   "an augmenter makes tokens by vocabulary %.8s, this run's "
                   "is %s: give both the same --vocabulary",
                   theirs, texts->digest);
}

/* Checks that texts end in the end token and are not too long. */
static int
check_rows(const struct train_texts *texts, const struct train_options *options,
           size_t n, size_t width, const int32_t *tokens,
           const int32_t *lengths, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t len = lengths[i];

        if (len > options->context)
            return err_set(err,
                           "a caption of %d tokens: this run has context=%ld",
                           len, options->context);
        if (tokens[i * width + (size_t)len - 1] != texts->end)
            return err_set(err, "a caption does not end in the end token of "
                                "this run's vocabulary");
    }
    return 0;
}

int
train_texts_check(const struct train_texts *texts,
                  const struct train_options *options,
                  const struct train_shape *shape, const struct wire_batch *b,
                  struct err *err)
{
    if (!texts->file)
        return 0;
    if (!b->tokens)
        return err_set(err, "a batch without captions: this run has --text");
    if ((size_t)b->vocabulary != shape->vocabulary)
        return err_set(err,
                       "captions by a vocabulary of %jd tokens: this run has "
                       "one of %zu",
                       (intmax_t)b->vocabulary, shape->vocabulary);
    if ((size_t)b->batch.most_captions != shape->captions)
        return err_set(err,
                       "samples of up to %jd captions: this run has up to %zu",
                       (intmax_t)b->batch.most_captions, shape->captions);
    return check_rows(texts, options, b->batch.b, b->n_tokens, b->tokens,
                      b->lengths, err) ||
                   check_rows(texts, options, b->batch.extra.n_texts,
                              b->n_tokens, b->extra_tokens, b->extra_lengths,
                              err)
               ? -1
               : 0;
}

/* Appends texts without their padding, from offsets[0] on, and sets the offsets
 * of their ends. */
static void
append_texts(int32_t *to, size_t *offsets, size_t n, size_t width,
             const int32_t *tokens, const int32_t *lengths)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = (size_t)lengths[i];

        memcpy(to + offsets[i], tokens + i * width, len * sizeof *to);
        offsets[i + 1] = offsets[i] + len;
    }
}

void
train_texts_pack(struct train_texts *texts, const struct wire_batch *from,
                 struct batch *batch)
{
    const size_t b = batch->b, all = b + batch->extra.n_texts;
    int32_t *tokens;
    size_t *offsets;

    if (!texts->file)
        return;
    arena_begin(&texts->arrays);
    offsets = arena_take(&texts->arrays, all + 1, sizeof *offsets);
    tokens = arena_take(&texts->arrays, all * from->n_tokens, sizeof *tokens);
    offsets[0] = 0;
    append_texts(tokens, offsets, b, from->n_tokens, from->tokens,
                 from->lengths);
    append_texts(tokens, offsets + b, batch->extra.n_texts, from->n_tokens,
                 from->extra_tokens, from->extra_lengths);
    batch->tokens = tokens;
    batch->offsets = offsets;
    batch_captions(batch, arena_take(&texts->arrays, batch_captions_size(batch),
                                     sizeof(int64_t)));
}

static int
part_save(void *self, const char *folder, struct err *err)
{
    const struct train_texts *texts = self;

    return texts->file ? file_write(mem_temp("%s/vocabulary.txt", folder),
                                    texts->file, texts->bytes, err)
                       : 0;
}

struct train_part
train_texts_part(struct train_texts *texts)
{
    return (struct train_part){.self = texts, .save = part_save};
}
