#ifndef FOIL_TRAIN_TEXTS_H
#define FOIL_TRAIN_TEXTS_H

#include "options.h"
#include "train/config.h"
#include "train/part.h"
#include "util/arena.h"
#include "util/batch.h"
#include "wire/batch.h"

/*
 * Captions of images (--text): the vocabulary of a run, and the captions of its
 * batches.  Without --text these functions do nothing.
 */
struct train_texts {
    char *file; /* content of vocabulary.txt; NULL: there are no texts */
    size_t bytes;
    size_t size;    /* V */
    char digest[9]; /* first digits of the vocabulary's digest */
    int32_t end;    /* the token that ends a text */

    /* of the present batch */
    size_t *offsets;
    int32_t *tokens;
    struct arena arrays;
};

/* train_texts_read() reads the vocabulary from --vocabulary or a checkpoint. */
int train_texts_read(struct train_texts *texts, const char *path,
                     struct err *err);
void train_texts_release(struct train_texts *texts);

/* train_texts_check_recipe() refuses augmenters whose recipe names another
 * vocabulary.
 */
int train_texts_check_recipe(const struct train_texts *texts,
                             const char *recipe, struct err *err);

/* train_texts_check() refuses a batch with texts that do not fit the run. */
int train_texts_check(const struct train_texts *texts,
                      const struct train_options *options,
                      const struct train_shape *shape,
                      const struct wire_batch *batch, struct err *err);

/*
 * train_texts_pack() packs the captions of a batch and then its extra texts for
 * the learner, by batch_captions().
 */
void train_texts_pack(struct train_texts *texts, const struct wire_batch *from,
                      struct batch *batch);

/* train_texts_part() returns vocabulary.txt as a part of a checkpoint. */
struct train_part train_texts_part(struct train_texts *texts);

#endif
