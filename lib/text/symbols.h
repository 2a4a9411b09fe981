#ifndef TEXT_SYMBOLS_H
#define TEXT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "text/lexicon.h"

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

/* data_symbols_init() makes the first 512; starts from zeros. */
void data_symbols_init(struct symbols *symbols);

/*
 * data_symbols_join() makes the symbol of two, which is the last one then: 0,
 * or -1 where one is written so already.
 */
int data_symbols_join(struct symbols *symbols, int32_t left, int32_t right);

/* data_symbols_bytes() are the bytes that a symbol stands for. */
const char *data_symbols_bytes(const struct symbols *symbols, int32_t symbol,
                               size_t *len);

void data_symbols_release(struct symbols *symbols);

#endif
