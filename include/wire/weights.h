#ifndef WIRE_WEIGHTS_H
#define WIRE_WEIGHTS_H

#include "wire/codec.h"
#include "wire/metrics.h"
#include "wire/table.h"

/*
 * weights: how much each negative counts; the answer to `pairs`.  rows = v*b
 * anchors; columns = v*b + r + s rows of pairs, then o that are not in pairs.
 */
enum { WIRE_VALUES_MAX = 16 };

struct wire_weights {
    int64_t id;      /* of the request */
    double accepted; /* share of proposals that were accepted, 0 .. 1 */
    int64_t moved;   /* chains whose state changed */
    size_t rows, columns;
    const float *w;        /* [rows,columns] not negative; each row sums to 1
                            * within 1e-3, or to less where `partial` */
    int partial;           /* 1: a share of a row may be dropped */
    size_t n_outside, dim; /* o, d */
    const float *outside;  /* [o,d] embeddings of unit length, of the last o
                            * columns of w, which have no gradient; or NULL */
    const float *scale; /* [rows,2] factors, not negative, of a row's positive
                         * and negative term in the gradient; NULL: 1, 1 */
    size_t n_tables;    /* up to WIRE_TABLES_MAX */
    struct wire_table *tables; /* rows that the trainer stores for the service
                                * when the step is applied; always the same
                                * tables, which can only grow.  Decoded weights
                                * own the array */
    size_t n_values;           /* up to WIRE_VALUES_MAX */
    struct value values[WIRE_VALUES_MAX]; /* for the metrics */
    struct wire_msg *msg;                 /* held by a decoded one; else NULL */
};

WIRE_SIZED(weights, WIRE_WEIGHTS)

#endif
