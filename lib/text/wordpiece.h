#ifndef TEXT_WORDPIECE_H
#define TEXT_WORDPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/err.h"

#include "bpe.h"
#include "text/lexicon.h"

/*
 * WordPiece as of BERT (Devlin et al. 2018), lower case and without accents: a
 * token is a line of its vocabulary, its id the number of the line from 0.
 */
enum {
    WORDPIECE_MAX = 1 << 20,    /* tokens of a vocabulary */
    WORDPIECE_WORD_CHARS = 100, /* a longer word is unknown */
};

struct wordpiece {
    struct lexicon token;
    int32_t start, end, unknown; /* [CLS], [SEP], [UNK] */
    struct data_bytes word;
};

/*
 * text_wordpiece_parse() reads a vocabulary, a token a line.  Refused: an empty
 * line, a token that was there before, more than WORDPIECE_MAX, and what lacks
 * [CLS], [SEP] or [UNK].  The caller releases it, also where it is refused;
 * starts from zeros.
 */
int text_wordpiece_parse(struct wordpiece *wordpiece, const char *text,
                         size_t len, struct err *err);

/*
 * text_wordpiece_encode() adds the tokens of a folded word (text.h) of n bytes.
 * First go: control and format characters, private ones (Cc, Cf, Co), those
 * that this Unicode assigns to nothing (Cn), U+FFFD, and, in normalisation form
 * D, marks without width (Mn).  Each character of punctuation (P, and those of
 * ASCII that are neither letter nor digit) and each Chinese one is a word by
 * itself.  Of a word, the longest token that it begins with is taken, then of
 * the rest the longest with ## before it; where there is none, the whole word
 * is [UNK].
 */
void text_wordpiece_encode(struct wordpiece *wordpiece, const uint8_t *fold,
                           size_t n, struct tokens *tokens);

/* text_wordpiece_text() adds the vocabulary as it is parsed. */
void text_wordpiece_text(const struct wordpiece *wordpiece,
                         struct data_bytes *text);

/* text_wordpiece_decode() adds a token to a text, with a space before it where
 * it is to stand apart and begins a word; 1 where the next one is to. */
int text_wordpiece_decode(const struct wordpiece *wordpiece, int32_t id,
                          int apart, struct data_bytes *text);

void text_wordpiece_release(struct wordpiece *wordpiece);

#endif
