#pragma once

#include <stddef.h>
#include <stdint.h>

#include "text/vocabulary.h"

/* The captions of a sample, and rows of tokens of them for a text encoder.  The
 * captions are one text, a caption a line. */

/* Maximum captions of a sample in an index, and bytes of one. */
enum { TEXT_CAPTIONS_MAX = 64, TEXT_CAPTION_BYTES = 1 << 16 };

/* text_captions_count() returns the number of captions, 0 for "". */
size_t text_captions_count(const char *captions);

/* text_captions_get() returns caption k < text_captions_count(), of *len bytes
 * without a final zero; it points into the text. */
const char *text_captions_get(const char *captions, size_t k, size_t *len);

/* The choice among several captions of a sample. */
enum text_caption {
    TEXT_CAPTION_RANDOM, /* a random one in each epoch */
    TEXT_CAPTION_FIRST,
    TEXT_CAPTION_ALL /* all of them, joined to one text, with k = 0 */
};

#define TEXT_CAPTION_WORDS "random|first|all" /* in that order */

/*
 * text_captions_draw() returns the index of the caption of a sample, of n >= 1,
 * in an epoch.  With TEXT_CAPTION_RANDOM it is uniform on 0 .. n - 1, a
 * function of the arguments only and independent of the sample's views; else it
 * is 0.
 *   seed  as in image_view(); id < 2^48, epoch < 2^32
 */
size_t text_captions_draw(enum text_caption caption, uint64_t seed, size_t id,
                          uint64_t epoch, size_t n);

/* How a caption becomes a row of tokens. */
struct text_captions_settings {
    enum text_caption caption;
    double drop;    /* share of tokens to drop, 0 .. 1 */
    size_t context; /* maximum tokens of a row, start and end included, >= 2 */
};

/*
 * text_captions_row() writes caption k < text_captions_count() of a sample as a
 * row: start, tokens, end.  Each token is dropped with probability `drop`, as a
 * function of (seed, id, epoch, k), and the others are cut to fit.  With
 * TEXT_CAPTION_ALL the row is of all captions, and k must be 0.
 *   row  [context] out; 0 after the end token
 * Returns its length, 2 .. context.
 */
size_t text_captions_row(const char *captions, size_t id, size_t k,
                         const struct text_captions_settings *how,
                         uint64_t seed, uint64_t epoch,
                         struct text_vocabulary *vocabulary, int32_t *row);
