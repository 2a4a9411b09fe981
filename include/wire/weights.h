#ifndef WIRE_WEIGHTS_H
#define WIRE_WEIGHTS_H

#include "util/weights.h"
#include "wire/codec.h"

/* weights: how much each negative counts; the answer to `pairs`. */
enum { WIRE_VALUES_MAX = 16 };

struct wire_weights {
    int64_t id;             /* of the request */
    struct weights weights; /* each row of w sums to 1 within 1e-3, or to less
                             * where it is partial; at most TABLES_MAX tables,
                             * WIRE_VALUES_MAX values.  Decoded weights own the
                             * array of tables */
    struct wire_msg *msg;   /* held by a decoded one; else NULL */
};

WIRE_SIZED(weights, WIRE_WEIGHTS)

#endif
