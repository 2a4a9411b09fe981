#ifndef WIRE_SHOW_H
#define WIRE_SHOW_H

#include "util/json.h"
#include "wire/msg.h"

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
 */
json_t *wire_show(const struct wire_msg *msg, int full);

#endif
