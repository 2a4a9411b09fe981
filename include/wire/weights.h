#ifndef WIRE_WEIGHTS_H
#define WIRE_WEIGHTS_H

#include "wire/metrics.h"

/*
 * weights: how much each negative counts; the answer to `pairs`.
 *
 *     id        whole  of the request
 *     accepted  real   share of proposals that were accepted, 0 .. 1
 *     moved     whole  chains whose state changed
 *     w         tensor f4 [rows, columns]: rows = v*b anchors, columns =
 *               v*b + r negatives; not negative, each row sums to 1 within
 *               1e-3, or to less where there is a keep_score
 *     keep      tensor i8 [rows, 2], optional: each chain's state after the
 *               step, (sample id, its view); -1, -1: none.  The trainer
 *               mirrors it, so that a killed service can be given it back
 *     keep_score  tensor f4 [rows], optional, with keep: the log score that
 *               each chain sits on, mirrored too; such chains may drop a share
 *               of a row
 *     scale     tensor f4 [rows, 2], optional: factors, not negative, of a
 *               row's positive and negative term in the gradient; else 1, 1
 *     bank      whole, optional: the service keeps the latest z of each sample
 *               (with keep, of each of its fixed views) as of so many steps
 *               ago, and the trainer mirrors that
 *     values    map, optional: up to WIRE_VALUES_MAX numbers for the metrics
 *               (wire/metrics.h)
 */
enum { WIRE_VALUES_MAX = 16, WIRE_BANK_MAX = 4096 };

struct wire_weights {
    int64_t id;
    double accepted;
    int64_t moved;
    size_t rows, columns;
    const float *w;          /* [rows,columns] */
    const int64_t *keep;     /* [rows,2] or NULL */
    const float *keep_score; /* [rows] or NULL */
    const float *scale;      /* [rows,2] or NULL */
    int64_t bank;            /* 0: none */
    size_t n_values;
    struct wire_metric values[WIRE_VALUES_MAX];
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/* As in wire/item.h; size of the data set, for keep; 0 when not known. */
struct wire_msg *wire_weights_put(const struct wire_weights *weights);
int wire_weights_get(struct wire_weights *weights, struct wire_msg *msg,
                     int64_t size, struct err *err);
void wire_weights_release(struct wire_weights *weights);

#endif
