#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/mem.h"

#include "bpe.h"
#include "text/lexicon.h"

/* WordPiece as of BERT (Devlin et al. 2018), lower case and without accents: a
 * token is a line of its vocabulary, its id the number of the line from 0. */
enum {
    WORDPIECE_MAX = 1 << 20,    /* tokens of a vocabulary */
    WORDPIECE_WORD_CHARS = 100, /* a longer word is unknown */
};

struct wordpiece {
    struct lexicon token;
    int32_t start, end, unknown; /* [CLS], [SEP], [UNK] */
    struct data_bytes word;
};

/* text_wordpiece_parse() reads a vocabulary, a token a line.  Errors: an empty
 * line, a repeated token, more than WORDPIECE_MAX, no [CLS], [SEP] or [UNK].
 * *wordpiece starts as zeros; the caller releases it, also on error. */
int text_wordpiece_parse(struct wordpiece *wordpiece, const char *text,
                         size_t len, struct err *err);

/*
 * text_wordpiece_encode() adds the tokens of a folded word (text.h) of n bytes.
 * Dropped are control, format and private characters (Cc, Cf, Co), unassigned
 * ones (Cn), U+FFFD, and, in normalisation form D, marks without width (Mn).
 * Each punctuation character (P, and ASCII characters that are neither letters
 * nor digits) and each Chinese one is a word by itself.  The first token of a
 * word is the longest one that begins it, the next the longest one with ## that
 * begins the rest; if there is none, the whole word is [UNK].
 */
void text_wordpiece_encode(struct wordpiece *wordpiece, const uint8_t *fold,
                           size_t n, struct tokens *tokens);

/* text_wordpiece_text() adds the vocabulary as text_wordpiece_parse() reads
 * it. */
void text_wordpiece_text(const struct wordpiece *wordpiece,
                         struct data_bytes *text);

/* text_wordpiece_decode() adds a token to a text, after a space if `apart` and
 * it begins a word; returns 1, which is `apart` for the next token. */
int text_wordpiece_decode(const struct wordpiece *wordpiece, int32_t id,
                          int apart, struct data_bytes *text);

void text_wordpiece_release(struct wordpiece *wordpiece);
