#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/digest.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * Tokens of captions, by a vocabulary of one of two kinds:
 *
 *   byte-level byte-pair encoding, in the form of CLIP's and Hugging Face's
 *     merges.txt: ids 0 .. 255 are bytes, 256 .. 511 bytes that end a word, 512
 *     + m is the result of merge m, followed by start and end; M <= 48,894
 *     merges, so V = 514 + M.  There are no unknown words
 *   WordPiece, BERT's vocab.txt: a token a line, its id the line from 0, with
 *     [CLS] for the start, [SEP] for the end and [UNK]
 *
 * Both normalise the text first (Unicode normalisation form C, lower case, runs
 * of white space as one space, U+FFFD for invalid UTF-8).  Names of special
 * tokens in it are ordinary text.
 *
 * A vocabulary caches the tokens of up to 65,536 words: not thread-safe.
 */
struct text_vocabulary;

/* text_vocabulary_open() reads a file, which may be gzipped, of up to 64 MiB;
 * NULL on error, as text_vocabulary_parse(). */
struct text_vocabulary *text_vocabulary_open(const char *path, struct err *err);

/*
 * text_vocabulary_parse() reads such a file from memory; it is WordPiece if one
 * of its lines is [UNK].  Errors, with the line: in merges.txt a line without
 * exactly one space, a symbol that no earlier line makes, one that two lines
 * make; in vocab.txt an empty line, a repeated token, more than 2^20 tokens, no
 * [CLS] or [SEP].
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
 * without the parts that change no token.  The caller frees it.
 * text_vocabulary_digest() returns the digest of this text: equal digests mean
 * equal tokens.
 */
char *text_vocabulary_text(const struct text_vocabulary *vocabulary,
                           size_t *len);
struct digest text_vocabulary_digest(const struct text_vocabulary *vocabulary);

/*
 * text_vocabulary_encode() writes the tokens of a text of len bytes, without
 * start and end, up to the first `most` of them.  It drops each token with
 * probability `drop`, 0 .. 1: it draws one rng_unit() for each token in turn,
 * none if drop is 0; rng may then be NULL.
 *   token  [most] out
 * Returns how many it wrote.  About 0.1 us for a cached word.
 */
size_t text_vocabulary_encode(struct text_vocabulary *vocabulary,
                              const char *text, size_t len, double drop,
                              struct rng *rng, size_t most, int32_t *token);

/*
 * text_vocabulary_decode() writes n tokens, ids below V, as text to *text,
 * which it overwrites: a space between words, nothing for start and end,
 * without the ## of WordPiece.  A zero byte follows, not included in text->len.
 */
void text_vocabulary_decode(const struct text_vocabulary *vocabulary, size_t n,
                            const int32_t *token, struct data_bytes *text);
