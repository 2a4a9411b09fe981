#ifndef TEXT_VOCABULARY_H
#define TEXT_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/digest.h"
#include "util/err.h"
#include "util/rng.h"

/*
 * Tokens of captions, by a vocabulary of one of two kinds:
 *
 *   byte-level byte-pair encoding, in the form of CLIP's and Hugging Face's
 *     merges.txt: ids 0 .. 255 are bytes, 256 .. 511 bytes that end a word,
 *     512 + m is what merge m makes, then come start and end; of M <= 48,894
 *     merges, so V = 514 + M.  Nothing is unknown: every text is bytes
 *   WordPiece, BERT's vocab.txt: a token a line, its id the line from 0, with
 *     [CLS] for the start, [SEP] for the end and [UNK]
 *
 * A text is made normal first, for both (Unicode normalisation form C, lower
 * case, runs of white space as one space, U+FFFD for bytes that are no UTF-8).
 * Names of special tokens in it are ordinary text.
 *
 * A vocabulary keeps the tokens of up to 65,536 words that it met, so it is for
 * one thread at a time.
 */
struct text_vocabulary;

/*
 * text_vocabulary_open() reads a file, which may be gzipped, of up to 64 MiB;
 * NULL on error, as text_vocabulary_parse().
 */
struct text_vocabulary *text_vocabulary_open(const char *path, struct err *err);

/*
 * text_vocabulary_parse() reads such a file from memory; it is WordPiece where
 * one of its lines is [UNK].  Refused, with the line: in merges.txt a line
 * without exactly one space, a symbol that no line above makes, one that is
 * made twice; in vocab.txt an empty line, a token that comes twice, more than
 * 2^20 tokens, no [CLS] or [SEP].
 */
struct text_vocabulary *text_vocabulary_parse(const char *text, size_t len,
                                              struct err *err);
void text_vocabulary_free(struct text_vocabulary *vocabulary);

/* text_vocabulary_size() returns V: all ids are below it. */
size_t text_vocabulary_size(const struct text_vocabulary *vocabulary);

/* Ids of the tokens that begin and end a row. */
int32_t text_vocabulary_start(const struct text_vocabulary *vocabulary);
int32_t text_vocabulary_end(const struct text_vocabulary *vocabulary);

/*
 * text_vocabulary_text() returns the file of a vocabulary, of *len bytes,
 * without the parts that change no token; to be given to free().
 * text_vocabulary_digest() returns the digest of this text: runs with equal
 * ones have equal tokens.
 */
char *text_vocabulary_text(const struct text_vocabulary *vocabulary,
                           size_t *len);
struct digest text_vocabulary_digest(const struct text_vocabulary *vocabulary);

/*
 * text_vocabulary_encode() writes the tokens of a text of len bytes, without
 * start and end, up to the first `most` of them.
 *   token  [most] out
 * Returns how many it wrote.  About 0.1 us for a word that it has met.
 */
size_t text_vocabulary_encode(struct text_vocabulary *vocabulary,
                              const char *text, size_t len, size_t most,
                              int32_t *token);

/*
 * text_vocabulary_thin() is a text_vocabulary_encode() that leaves out each
 * token with probability `drop`, 0 .. 1: it takes one rng_unit() for each token
 * in turn, none where drop is 0.
 */
size_t text_vocabulary_thin(struct text_vocabulary *vocabulary,
                            const char *text, size_t len, double drop,
                            struct rng *rng, size_t most, int32_t *token);

/*
 * text_vocabulary_row() writes a caption as a row of `context` >= 2 tokens at
 * most: start, tokens, end.  Tokens that do not fit are left out; the end token
 * is always there.
 *   row    [context] out; 0 behind the end token
 * Returns its length, 2 .. context.
 */
size_t text_vocabulary_row(struct text_vocabulary *vocabulary, const char *text,
                           size_t len, size_t context, int32_t *row);

/*
 * text_vocabulary_decode() writes n tokens, ids below V, as text over what
 * *text held: a space between words, nothing for start and end, without the ##
 * of WordPiece.  A zero byte follows, which text->len does not count.
 */
void text_vocabulary_decode(const struct text_vocabulary *vocabulary, size_t n,
                            const int32_t *token, struct data_bytes *text);

#endif
