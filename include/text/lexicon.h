#pragma once

#include <stddef.h>
#include <stdint.h>

/* A set of byte strings, numbered 0, 1, ... in the order of insertion.  Starts
 * as zeros.  Finding or adding one takes O(its length). */
struct lexicon {
    char *text; /* of all, concatenated */
    size_t text_len, text_room;
    struct lexicon_entry {
        size_t at;
        uint32_t len, hash;
    } * entry; /* [n] */
    size_t n, room;
    uint32_t *slot; /* [slots] number + 1, or 0; slots is a power of two */
    size_t slots;
};

enum { LEXICON_NONE = -1 };

/* text_lexicon_find() returns the number of a string, or LEXICON_NONE. */
int64_t text_lexicon_find(const struct lexicon *lexicon, const void *text,
                          size_t len);

/* text_lexicon_add() returns the number of a string, n - 1 if it is new; at
 * most 2^31 strings of less than 2^32 bytes each. */
size_t text_lexicon_add(struct lexicon *lexicon, const void *text, size_t len);

/* text_lexicon_text() returns string i < n, of *len bytes, valid until the next
 * text_lexicon_add(). */
const char *text_lexicon_text(const struct lexicon *lexicon, size_t i,
                              size_t *len);

/* text_lexicon_clear() removes all strings, but does not free memory. */
void text_lexicon_clear(struct lexicon *lexicon);
void text_lexicon_release(struct lexicon *lexicon);
