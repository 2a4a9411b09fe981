#ifndef WIRE_WEIGHTS_H
#define WIRE_WEIGHTS_H

#include "wire/msg.h"

/*
 * weights: how much each negative counts; the answer to `pairs`.
 *
 *     id        whole  of the request
 *     accepted  real   share of proposals that were accepted, 0 .. 1
 *     moved     whole  chains whose state changed
 *     w         tensor f4 [rows, columns]: rows = v*b anchors, columns =
 *               v*b + r negatives; not negative, each row sums to 1 within
 *               1e-3
 *     keep      tensor i8 [rows, 2], optional: each chain's state after the
 *               step, (sample id, its view); -1, -1: none.  The trainer
 *               mirrors it, so that a killed service can be given it back
 */
struct wire_weights {
    int64_t id;
    double accepted;
    int64_t moved;
    size_t rows, columns;
    const float *w;       /* [rows,columns] */
    const int64_t *keep;  /* [rows,2] or NULL */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/* As in wire/item.h. */
struct wire_msg *wire_weights_put(const struct wire_weights *weights);
int wire_weights_get(struct wire_weights *weights, struct wire_msg *msg,
                     struct err *err);
void wire_weights_release(struct wire_weights *weights);

#endif
