#ifndef FOIL_AUGMENT_TEXT_H
#define FOIL_AUGMENT_TEXT_H

#include "data/set.h"
#include "text/vocabulary.h"
#include "wire/batch.h"

#include "augment.h"

/* Captions of a batch as tokens; all zeros where no vocabulary was given. */
struct augment_text {
    const struct augment_options *options;
    const struct data_set *set;
    struct data_vocabulary *vocabulary;
    size_t most;                           /* K */
    int32_t *tokens, *lengths, *captions;  /* [b,len], [b], [b] */
    int32_t *extra_tokens, *extra_lengths; /* [s,len], [s] */
    size_t tokens_room, lengths_room, captions_room, extra_tokens_room,
        extra_lengths_room;
};

/* Reads the vocabulary; ends the tool where that fails, or where no sample has
 * a caption. */
void augment_text_open(struct augment_text *text,
                       const struct augment_options *options,
                       const struct data_set *set);
void augment_text_close(struct augment_text *text);

/* Puts what decides the tokens behind the name of a recipe. */
void augment_text_recipe(const struct augment_text *text,
                         char recipe[AUGMENT_RECIPE]);

/*
 * Gives a batch one caption of each sample, and the further ones of its item,
 * as tokens.  They last until the next batch.  Ends the tool where the item
 * wants a caption that its sample does not have. seed as for the views
 */
void augment_text_make(struct augment_text *text, uint64_t seed,
                       struct wire_batch *batch);

#endif
