#ifndef TEXT_BPE_H
#define TEXT_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/err.h"

#include "pairs.h"
#include "symbols.h"
#include "tokens.h"

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

/* data_bpe_init() begins with no merge; starts from zeros. */
void data_bpe_init(struct bpe *bpe);

/* data_bpe_add() adds the merge of two symbols: 0, or -1 where what it makes is
 * there already. */
int data_bpe_add(struct bpe *bpe, int32_t left, int32_t right);

/*
 * data_bpe_parse() reads a list of merges, as of CLIP and Hugging Face: a first
 * line with "#version" is a comment; then LEFT RIGHT a line, best first, as
 * symbols are written (symbols.h).  Of more than BPE_MERGES_MAX the first so
 * many count.  Refused, with the line: not exactly one space, a symbol that no
 * line above makes, a merge that makes what is there already.
 * The caller releases it, also where it is refused; starts from zeros.
 */
int data_bpe_parse(struct bpe *bpe, const char *text, size_t len,
                   struct err *err);

/*
 * data_bpe_encode() adds the tokens of a piece of a word, n >= 1 bytes, the
 * last of them marked as the end: while neighbours have a merge, that of lowest
 * rank is applied wherever it fits, left to right.  O(n log n).
 */
void data_bpe_encode(struct bpe *bpe, const uint8_t *piece, size_t n,
                     struct tokens *tokens);

/* data_bpe_text() adds the list as it is parsed: the merges that count. */
void data_bpe_text(const struct bpe *bpe, struct data_bytes *text);

/* data_bpe_decode() adds the bytes of a token, with a space before them where
 * they are to stand apart; 1 where the next ones are to.  Ids below 512 + M. */
int data_bpe_decode(const struct bpe *bpe, int32_t id, int apart,
                    struct data_bytes *text);

void data_bpe_release(struct bpe *bpe);

#endif
