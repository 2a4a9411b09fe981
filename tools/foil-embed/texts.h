#ifndef FOIL_EMBED_TEXTS_H
#define FOIL_EMBED_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "data/features.h"
#include "nn/model.h"
#include "text/vocabulary.h"

/*
 * Texts, embedded by the encoder of texts of a checkpoint, or without one: 1
 * for each token of the vocabulary that a text has, 0 for the others.  Texts
 * that are equal after normalisation are one group; texts whose rows of tokens
 * are equal are encoded once, so that their embeddings are equal to the bit.
 */
struct embed_texts {
    struct nn_model model;
    struct data_vocabulary *vocabulary;
    size_t context, batch; /* tokens of a row at most; rows at a time */
    int head; /* 1: embeddings, 0: features before the projection */

    size_t n, rooms[4];
    int64_t *owner;  /* [n] what each text belongs to, as the caller says */
    size_t *offset;  /* [n + 1] of its tokens */
    int32_t *token;  /* all of them, whole, without start and end */
    int32_t *buffer; /* of one text */
};

/* embed_texts_open() reads encoder and vocabulary of a checkpoint, with average
 * that of the mean of its weights (nn/average.h); it ends the tool where that
 * fails. */
void embed_texts_open(struct embed_texts *texts, const char *checkpoint,
                      size_t batch, int head, int average);
void embed_texts_open_raw(struct embed_texts *texts, const char *vocabulary);
void embed_texts_close(struct embed_texts *texts);

/* embed_texts_add() adds a text of len bytes. */
void embed_texts_add(struct embed_texts *texts, const char *text, size_t len,
                     int64_t owner);

/* embed_texts_run() embeds all that were added: x, ids (the owners) and same of
 * the features, to be released. */
void embed_texts_run(const struct embed_texts *texts,
                     struct data_features *features);

#endif
