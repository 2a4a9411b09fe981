#ifndef WIRE_HELLO_H
#define WIRE_HELLO_H

#include "wire/msg.h"

/*
 * hello: who one is, what one speaks, which data one means.  The connecting
 * side says it first, and again when told to; the binder answers with its
 * own, or with an error.
 *
 *     stage    text   "augment", "train" ...; up to 31 bytes
 *     version  whole  1
 *     run      text   name of the run, up to 127 bytes; "" fits every run
 *     dataset  map    {digest: 32 hexadecimal digits, size: images};
 *                     digest "" and size 0: not known yet
 *     peer     text   optional, up to 63 bytes: a name that stays the same
 *                     over reconnections of one process
 *     recipe   text   optional, up to 63 bytes: what all who make views for a
 *                     run must agree in, so that anyone makes the same
 *     greeting whole  optional, from 1: the number of this greeting, which the
 *                     answer repeats.  A hello that is said again because no
 *                     answer came keeps its number; a larger number begins
 *                     everything anew at both ends: credit is 0, and what was
 *                     handed out before is handed out again
 */
struct wire_hello {
    char stage[32], run[128], peer[64], recipe[64];
    int64_t version;
    char digest[33];
    int64_t size;
    int64_t greeting; /* 0: not numbered */
};

struct wire_msg *wire_hello_put(const struct wire_hello *hello);
int wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
                   struct err *err);

/* wire_hello_name() fills in `peer` where it is "". */
void wire_hello_name(struct wire_hello *hello);

/*
 * wire_hello_fits() returns 0 when the two can work together, else -1 with a
 * sentence that names both sides: version, run, data set or recipe differ.
 */
int wire_hello_fits(const struct wire_hello *mine,
                    const struct wire_hello *theirs, struct err *err);

#endif
