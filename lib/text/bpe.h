#pragma once

#include <stddef.h>
#include <stdint.h>

#include "text/lexicon.h"
#include "util/err.h"
#include "util/mem.h"

/* A list of ids of tokens.  Starts as zeros. */
struct tokens {
    int32_t *id; /* [n] */
    size_t n, room;
};

void text_tokens_add(struct tokens *tokens, int32_t id);
void text_tokens_release(struct tokens *tokens);

/*
 * The symbols of byte-level byte-pair encoding, by their numbers in CLIP: 0 ..
 * 255 are the bytes (33..126, 161..172, 174..255, then the others, rising), 256
 * .. 511 the same bytes at the end of a word, 512 + m the result of merge m.
 *
 * In a file a symbol is written with a character for each byte: the bytes in
 * the three ranges above as themselves (Latin-1), the others as U+0100, U+0101,
 * ...; and followed by "</w>" at the end of a word.
 */
enum { SYMBOLS_BYTES = 256, SYMBOLS_FIRST = 512 };

struct symbols {
    struct lexicon written; /* each as written in files, in UTF-8 */
    char *text;             /* bytes of all, concatenated */
    size_t text_len, text_room;
    struct symbols_entry {
        size_t at;
        uint32_t len, last; /* last: 1 at the end of a word */
    } * entry;              /* [written.n] */
    size_t room;
    int32_t of_byte[SYMBOLS_BYTES];
};

/* text_symbols_bytes() returns the bytes of a symbol. */
const char *text_symbols_bytes(const struct symbols *symbols, int32_t symbol,
                               size_t *len);

/* Byte-level byte-pair encoding (Sennrich et al. 2016; Radford et al. 2019) in
 * CLIP's form: 256 bytes, the same at the end of a word, and a list of
 * merges. */
enum { BPE_MERGES_MAX = 48894 }; /* CLIP's: its file has more lines */

#define BPE_HEADING "#version: 0.2\n" /* first line of a list of merges */

struct bpe {
    struct symbols symbols;
    struct lexicon merges; /* each as two int32_t, left and right, best first;
                              merge m makes symbol 512 + m */
    struct bpe_scratch {
        int32_t *id; /* [n] the symbols of a piece; -1: merged into another */
        uint32_t *next, *last; /* [n] neighbours */
        uint64_t *heap;        /* [queued] rank and index, smallest first */
        size_t n, id_room, next_room, last_room, queued, heap_room;
    } scratch;
};

/* text_bpe_init() adds the first 512 symbols to an empty struct, and no
 * merges. */
void text_bpe_init(struct bpe *bpe);

/* text_bpe_add() adds the merge of two symbols: 0, or -1 if its symbol
 * exists. */
int text_bpe_add(struct bpe *bpe, int32_t left, int32_t right);

/*
 * text_bpe_parse() reads a list of merges, as of CLIP and Hugging Face: a first
 * line with "#version" is a comment; then LEFT RIGHT a line, best first, as
 * symbols are written.  Only the first BPE_MERGES_MAX count.  Errors, with the
 * line: not exactly one space, a symbol that no earlier line makes, a merge to
 * an existing symbol. *bpe starts as zeros; the caller releases it, also on
 * error.
 */
int text_bpe_parse(struct bpe *bpe, const char *text, size_t len,
                   struct err *err);

/* text_bpe_encode() adds the tokens of a piece of a word, n >= 1 bytes, with
 * the last byte marked as the end: while any neighbours have a merge, the one
 * of lowest rank is applied everywhere, left to right.  O(n log n). */
void text_bpe_encode(struct bpe *bpe, const uint8_t *piece, size_t n,
                     struct tokens *tokens);

/* text_bpe_text() adds the list of the merges that count, as text_bpe_parse()
 * reads it. */
void text_bpe_text(const struct bpe *bpe, struct data_bytes *text);

/* text_bpe_decode() adds the bytes of a token, after a space if `apart`;
 * returns `apart` for the next token.  Ids below 512 + M. */
int text_bpe_decode(const struct bpe *bpe, int32_t id, int apart,
                    struct data_bytes *text);

void text_bpe_release(struct bpe *bpe);
