#ifndef WIRE_WEIGHTS_H
#define WIRE_WEIGHTS_H

#include "wire/codec.h"
#include "wire/metrics.h"

/*
 * weights: how much each negative counts; the answer to `pairs`.  rows = v*b
 * anchors, columns = v*b + r negatives.
 */
enum { WIRE_VALUES_MAX = 16, WIRE_BANK_MAX = 4096 };

struct wire_weights {
    int64_t id;      /* of the request */
    double accepted; /* share of proposals that were accepted, 0 .. 1 */
    int64_t moved;   /* chains whose state changed */
    size_t rows, columns;
    const float *w;      /* [rows,columns] not negative; each row sums to 1
                          * within 1e-3, or to less where there is a
                          * keep_score */
    const int64_t *keep; /* [rows,2] each chain's state after the step, (sample
                          * id, its view); -1, -1: none.  The trainer mirrors
                          * it, so that a killed service can be given it back;
                          * or NULL */
    const float *keep_score; /* [rows] with keep: the log score that each chain
                              * sits on, mirrored too; such chains may drop a
                              * share of a row; or NULL */
    const float *scale; /* [rows,2] factors, not negative, of a row's positive
                         * and negative term in the gradient; NULL: 1, 1 */
    int64_t bank;       /* 1 .. WIRE_BANK_MAX: the service keeps the latest z
                         * of each sample (with keep, of each of its fixed
                         * views) as of so many steps ago, and the trainer
                         * mirrors that; 0: none */
    size_t n_values;    /* up to WIRE_VALUES_MAX */
    struct wire_metric values[WIRE_VALUES_MAX]; /* for the metrics */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_SIZED(weights, WIRE_WEIGHTS)

#endif
