#ifndef WIRE_DRAWN_H
#define WIRE_DRAWN_H

#include "util/batch.h"
#include "util/weights.h"
#include "wire/codec.h"

/*
 * drawn: the k negatives with the most weight from the sampler in a step, for
 * each anchor; trainer to subscribers, while there are any.  An anchor with
 * fewer weighed negatives has -1 with a weight of 0 for the rest.
 */
struct wire_drawn {
    int64_t sequence;         /* counts the publisher's messages from 0 */
    char sampler[64];         /* name and version, "emc2 1"; or "" */
    size_t columns;           /* negatives that were weighed for an anchor */
    struct batch batch;       /* epoch, step, beta, b, v, ids */
    struct heaviest heaviest; /* of the v b rows */
    struct wire_msg *msg;     /* held by a decoded one; else NULL */
};

WIRE_SIZED(drawn, WIRE_DRAWN)

#endif
