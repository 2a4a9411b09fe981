#ifndef WIRE_REJECT_H
#define WIRE_REJECT_H

#include "wire/next.h"

/* reject: samples that could not be used, from augmenter to selector. */
struct wire_reject {
    struct wire_place at; /* of the item that asked for them */
    char reason[256];
    size_t n;             /* >= 1 */
    const int64_t *ids;   /* [n] */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_HELD(reject, WIRE_REJECT)

#endif
