#pragma once

#include "util/json.h"
#include "wire/msg.h"

/* Decodes tokens: text() returns the text of n tokens, to be freed by free(),
 * or NULL when they are not in the vocabulary, which shows null. */
struct wire_token_text {
    char *(*text)(void *vocabulary, size_t n, const int32_t *token);
    void *vocabulary;
};

/*
 * wire_show() returns a message as JSON, to be freed by json_decref():
 *
 *     {"kind":"item","header":{"epoch":0, ...},
 *      "tensors": [{"name": "ids", "dtype": "i8", "shape": [64],
 *                   "digest": "..."}]}
 *
 * With `full`, "data" has all numbers of a tensor in one flat list instead of
 * the digest (XXH3-128 of its bytes); for tokens, a list for each text, up to
 * its end.
 *   words  adds "text" to tensors of tokens, a list with the text of each row;
 *          NULL: no "text"
 */
json_t *wire_show(const struct wire_msg *msg, int full,
                  const struct wire_token_text *words);
