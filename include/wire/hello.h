#pragma once

#include "wire/codec.h"

/* hello: stage and name of a peer, its protocol version, and its data set.  The
 * connecting side sends it first, and again when the binder requests it; the
 * binder answers with its own, or with an error. */
enum { WIRE_RANKS_MAX = 65536 }; /* ranks of a trainer, at most */

struct wire_hello {
    char stage[32];    /* "augment", "train" ... */
    char run[128];     /* name of the run; "" fits every run */
    char peer[64];     /* unique, 1 .. 63 bytes; the same over reconnections of
                        * one process */
    char recipe[64];   /* of the views that a peer makes, the same for all such
                        * peers of a run; "": makes none, or not known */
    int64_t version;   /* wire_hello_put() sends WIRE_VERSION */
    char digest[33];   /* of the data set, 32 hexadecimal digits, and */
    int64_t size;      /* its images; "" and 0: not known yet */
    char sampler[64];  /* of a negatives service: name and version of its state,
                        * "emc2 2" */
    int64_t max_batch; /* of a trainer: maximum bytes of a tensor of a batch; 0:
                        * missing */
    int64_t width;     /* of a trainer: width of an embedding; 0: missing */
    int64_t rank[2];   /* of a trainer: r, W, it is rank r of W; 0, 0: the only
                        * one.  No stage of foil uses it */

    /* Of a selector whose epochs are by windows of shards (select/windows.h):
     * shards of a window, 0: none; their seed; shards of the data set; 1: all
     * epochs have the order of epoch 0. */
    int64_t windows, windows_seed, windows_shards;
    int windows_fixed;

    char view_options[1024]; /* of a peer that sends views: how it makes them, a
                              * JSON object (foil-wire(5)); "": not known */
};

struct wire_msg *wire_hello_put(const struct wire_hello *hello);
int wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
                   struct err *err);

/* wire_hello_name() fills in an empty hello->peer with stage, process id and
 * time: "augment-4711-...". */
void wire_hello_name(struct wire_hello *hello);

/* wire_hello_fits() returns 0 when the two can work together, else -1 with a
 * message that names both sides: version, run, data set or recipe differ. */
int wire_hello_fits(const struct wire_hello *mine,
                    const struct wire_hello *theirs, struct err *err);
