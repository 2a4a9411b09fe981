#ifndef WIRE_SHOW_H
#define WIRE_SHOW_H

#include "util/json.h"
#include "wire/msg.h"

/* wire_words: text() writes a row of n tokens as text, to be given to free();
 * NULL where they are of no such vocabulary, and null is shown. */
struct wire_words {
    char *(*text)(void *vocabulary, size_t n, const int32_t *token);
    void *vocabulary;
};

/*
 * wire_show() returns a message as JSON, to be json_decref()ed:
 *
 *     {"kind":"item","header":{"epoch":0, ...},
 *      "tensors": [{"name": "ids", "dtype": "i8", "shape": [64],
 *                   "digest": "..."}]}
 *
 * With `full`, "data" holds all numbers of a tensor in one flat list instead
 * of the digest (XXH3-128 of its bytes); of tokens, a list for each text,
 * without what is behind its end.
 *   words  of tokens, "text" is a list of what each row says; NULL: no "text"
 */
json_t *wire_show(const struct wire_msg *msg, int full,
                  const struct wire_words *words);

#endif
