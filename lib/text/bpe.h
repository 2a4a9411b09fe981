#ifndef TEXT_BPE_H
#define TEXT_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "text/lexicon.h"
#include "util/buffer.h"
#include "util/err.h"

/* Ids of tokens, one behind the other.  Starts as zeros. */
struct tokens {
    int32_t *id; /* [n] */
    size_t n, room;
};

void text_tokens_add(struct tokens *tokens, int32_t id);
void text_tokens_release(struct tokens *tokens);

/* A number for each pair of symbols that was put in.  Starts as zeros. */
struct pairs {
    struct pairs_slot {
        uint64_t pair;
        uint32_t number; /* + 1; 0: free */
    } * slot;            /* [slots], a power of two */
    size_t n, slots;
};

enum { PAIRS_NONE = -1 };

/* text_pairs_get() is the number of a pair, or PAIRS_NONE. */
int64_t text_pairs_get(const struct pairs *pairs, int32_t left, int32_t right);

/* text_pairs_put() gives a pair that is not there a number below 2^31. */
void text_pairs_put(struct pairs *pairs, int32_t left, int32_t right,
                    size_t number);

void text_pairs_release(struct pairs *pairs);

/*
 * The symbols of byte-level byte-pair encoding, by their numbers in CLIP: 0 ..
 * 255 are the bytes (33..126, 161..172, 174..255, then the others, rising), 256
 * .. 511 the same bytes at the end of a word, 512 + m what merge m makes.
 *
 * In a file a symbol is written with a character for each byte: the bytes that
 * come first above by themselves (Latin-1), the others as U+0100, U+0101, ...;
 * and with "</w>" behind it at the end of a word.
 */
enum { SYMBOLS_BYTES = 256, SYMBOLS_FIRST = 512 };

struct symbols {
    struct lexicon written; /* each as it is written, in UTF-8 */
    char *text;             /* of all, one behind the other */
    size_t text_len, text_room;
    struct symbols_entry {
        size_t at;
        uint32_t len, last; /* last: at the end of a word */
    } * entry;              /* as many as are written */
    size_t room;
    int32_t of_byte[SYMBOLS_BYTES];
};

/* text_symbols_init() makes the first 512; starts from zeros. */
void text_symbols_init(struct symbols *symbols);

/*
 * text_symbols_join() makes the symbol of two, which is the last one then: 0,
 * or -1 where one is written so already.
 */
int text_symbols_join(struct symbols *symbols, int32_t left, int32_t right);

/* text_symbols_bytes() are the bytes that a symbol stands for. */
const char *text_symbols_bytes(const struct symbols *symbols, int32_t symbol,
                               size_t *len);

void text_symbols_release(struct symbols *symbols);

/*
 * Byte-level byte-pair encoding (Sennrich et al. 2016; Radford et al. 2019) in
 * CLIP's form: 256 bytes, the same at the end of a word, and a list of merges.
 */
enum { BPE_MERGES_MAX = 48894 }; /* CLIP's: its file has more lines */

#define BPE_HEADING "#version: 0.2\n" /* first line of a list of merges */

struct bpe {
    struct symbols symbols;
    struct pairs rank; /* of each merge; it makes symbol 512 + rank */
    struct bpe_merge {
        int32_t left, right;
    } * merge; /* [merges] best first */
    size_t merges, room;
    struct bpe_scratch {
        int32_t *id; /* [n] the symbols of a piece; -1 where one has gone */
        uint32_t *next, *last; /* [n] neighbours */
        uint64_t *heap;        /* [waiting] rank and place, smallest first */
        size_t n, id_room, next_room, last_room, waiting, heap_room;
    } scratch;
};

/* text_bpe_init() begins with no merge; starts from zeros. */
void text_bpe_init(struct bpe *bpe);

/* text_bpe_add() adds the merge of two symbols: 0, or -1 where what it makes is
 * there already. */
int text_bpe_add(struct bpe *bpe, int32_t left, int32_t right);

/*
 * text_bpe_parse() reads a list of merges, as of CLIP and Hugging Face: a first
 * line with "#version" is a comment; then LEFT RIGHT a line, best first, as
 * symbols are written.  Of more than BPE_MERGES_MAX the first so
 * many count.  Refused, with the line: not exactly one space, a symbol that no
 * line above makes, a merge that makes what is there already.
 * The caller releases it, also where it is refused; starts from zeros.
 */
int text_bpe_parse(struct bpe *bpe, const char *text, size_t len,
                   struct err *err);

/*
 * text_bpe_encode() adds the tokens of a piece of a word, n >= 1 bytes, the
 * last of them marked as the end: while neighbours have a merge, that of lowest
 * rank is applied wherever it fits, left to right.  O(n log n).
 */
void text_bpe_encode(struct bpe *bpe, const uint8_t *piece, size_t n,
                     struct tokens *tokens);

/* text_bpe_text() adds the list as it is parsed: the merges that count. */
void text_bpe_text(const struct bpe *bpe, struct data_bytes *text);

/* text_bpe_decode() adds the bytes of a token, with a space before them where
 * they are to stand apart; 1 where the next ones are to.  Ids below 512 + M. */
int text_bpe_decode(const struct bpe *bpe, int32_t id, int apart,
                    struct data_bytes *text);

void text_bpe_release(struct bpe *bpe);

#endif
