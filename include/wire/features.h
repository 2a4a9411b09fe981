#ifndef WIRE_FEATURES_H
#define WIRE_FEATURES_H

#include "wire/msg.h"

/*
 * features: what the encoder makes of a batch, trainer to subscribers; or a
 * piece of the table of all samples as it was at the end of an epoch, trainer
 * to who asked for it (wire/fetch.h).
 *
 *     sequence     whole  counts the publisher's messages from 0
 *     epoch, step  whole
 *     mode         text   "train": made by training steps; "eval": by a pass
 *                         over all samples with the same weights
 *     dim          whole  d
 *     ids          tensor i8 [b]
 *     z            tensor f4, or f2 where that was asked for, [v,b,d]: rows of
 *                         unit length
 *     id           whole  optional: the request that this answers
 *     next         whole  with it: ask for the piece from this sample on; the
 *                         size of the data set when that was the last
 */
struct wire_features {
    int64_t sequence, epoch, step;
    int64_t id, next; /* id 0: published, answers no request */
    char mode[8];
    size_t n, n_views, dim; /* b, v, d */
    const int64_t *ids;     /* [b] */
    const float *z;         /* [v,b,d], or NULL: */
    const uint16_t *half;   /* the same as halves */
    struct wire_msg *msg;   /* held by a decoded one; else NULL */
};

/* As in wire/item.h.  _put() takes sequence from the struct. */
struct wire_msg *wire_features_put(const struct wire_features *features);
int wire_features_get(struct wire_features *features, struct wire_msg *msg,
                      int64_t size, struct err *err);
void wire_features_release(struct wire_features *features);

#endif
