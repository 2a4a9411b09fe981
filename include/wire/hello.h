#ifndef WIRE_HELLO_H
#define WIRE_HELLO_H

#include "wire/codec.h"

/*
 * hello: stage and name of a peer, the version of the protocol that it speaks,
 * and its data set.  The connecting side says it first, and again when told to;
 * the binder answers with its own, or with an error.
 */
enum { WIRE_RANKS_MAX = 65536 }; /* ranks of a trainer, at most */

struct wire_hello {
    char stage[32];   /* "augment", "train" ... */
    char run[128];    /* name of the run; "" fits every run */
    char peer[64];    /* 1 .. 63 bytes that stay the same over reconnections of
                       * one process, and that no other has */
    char recipe[64];  /* of the views that a peer makes: all peers of a run that
                       * make views must have the same; "": makes none, or not
                       * known */
    int64_t version;  /* wire_hello_put() sends WIRE_VERSION */
    char digest[33];  /* of the data set, 32 hexadecimal digits, and */
    int64_t size;     /* its images; "" and 0: not known yet */
    char sampler[64]; /* of a negatives service: name and version of its state,
                       * "emc2 2" */
    int64_t max_batch; /* of a trainer: bytes of a tensor of a batch, at most;
                        * 0: not given */
    int64_t width;     /* of a trainer: numbers of an embedding; 0: not given */
    int64_t part[2];   /* of a trainer: r, W, it is rank r of W; 0, 0: it is
                        * the only one.  No stage of foil uses it */

    char making[1024]; /* of a peer that brings views: how it makes them, a JSON
                        * object (foil-wire(5)); "": it does not say */
};

struct wire_msg *wire_hello_put(const struct wire_hello *hello);
int wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
                   struct err *err);

#endif
