#ifndef WIRE_SHOW_H
#define WIRE_SHOW_H

#include "util/json.h"
#include "wire/msg.h"

/* How tokens become text: text() returns n tokens as text, to be given to
 * free(), or NULL where they are not of the vocabulary: then null is shown. */
struct wire_words {
    char *(*text)(void *vocabulary, size_t n, const int32_t *token);
    void *vocabulary;
};

/*
 * wire_show() returns a message as JSON, to be given to json_decref():
 *
 *     {"kind":"item","header":{"epoch":0, ...},
 *      "tensors": [{"name": "ids", "dtype": "i8", "shape": [64],
 *                   "digest": "..."}]}
 *
 * With `full`, "data" holds all numbers of a tensor in one flat list instead
 * of the digest (XXH3-128 of its bytes); of tokens, a list for each text,
 * without what is behind its end.
 *   words  tensors of tokens get "text", a list of the text of each row; NULL:
 *          no "text"
 */
json_t *wire_show(const struct wire_msg *msg, int full,
                  const struct wire_words *words);

#endif
