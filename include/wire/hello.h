#ifndef WIRE_HELLO_H
#define WIRE_HELLO_H

#include "wire/codec.h"

/*
 * hello: who one is, what one speaks, which data one means.  The connecting
 * side says it first, and again when told to; the binder answers with its
 * own, or with an error.
 */
struct wire_hello {
    char stage[32];  /* "augment", "train" ... */
    char run[128];   /* name of the run; "" fits every run */
    char peer[64];   /* a name that stays the same over reconnections of one
                      * process; "": none */
    char recipe[64]; /* what all who make views for a run must agree in, so that
                      * anyone makes the same; "": not known */
    int64_t version; /* wire_hello_put() sends WIRE_VERSION */
    char digest[33]; /* of the data set, 32 hexadecimal digits, and */
    int64_t size;    /* its images; "" and 0: not known yet */
    int64_t greeting; /* from 1: the number of this greeting, which the answer
                       * repeats; 0: not numbered.  A hello that is said again
                       * because no answer came keeps its number; a larger
                       * number begins everything anew at both ends: credit is
                       * 0, and what was handed out before is handed out again
                       */
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
