#ifndef TEXT_LEXICON_H
#define TEXT_LEXICON_H

#include <stddef.h>
#include <stdint.h>

/*
 * Strings of bytes without doubles, numbered 0, 1, ... in the order in which
 * they came.  Starts as zeros.  To find or to add one takes O(its length).
 */
struct lexicon {
    char *text; /* of all, one behind the other */
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

/* text_lexicon_find() is the number of a string, or LEXICON_NONE. */
int64_t text_lexicon_find(const struct lexicon *lexicon, const void *text,
                          size_t len);

/* text_lexicon_add() is the number of a string, which is n - 1 if it is new;
 * there may be up to 2^31 of them, of less than 2^32 bytes each. */
size_t text_lexicon_add(struct lexicon *lexicon, const void *text, size_t len);

/* text_lexicon_text() is string i < n, of *len bytes; until the next is added.
 */
const char *text_lexicon_text(const struct lexicon *lexicon, size_t i,
                              size_t *len);

/* text_lexicon_clear() empties it and keeps its room. */
void text_lexicon_clear(struct lexicon *lexicon);
void text_lexicon_release(struct lexicon *lexicon);

#endif
