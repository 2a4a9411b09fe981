#ifndef WIRE_FEATURES_H
#define WIRE_FEATURES_H

#include "util/batch.h"
#include "wire/codec.h"

/*
 * features: the encoder's output for a batch, trainer to subscribers; or a
 * piece of the table of all samples at the end of an epoch, trainer to the peer
 * that requested it (wire/fetch.h).
 */
struct wire_features {
    int64_t sequence; /* counts the publisher's messages from 0; -1: missing, in
                       * an answer */
    int64_t id;   /* of the request that this answers, from 1; 0: published */
    int64_t next; /* with id: the first sample of the next piece; the size of
                   * the data set when this is the last */
    char mode[8]; /* "train": from training steps; "eval": from a pass over
                   * all samples with the same weights */
    struct batch batch;   /* epoch, step, b, v, ids; dim, up to WIRE_DIM_MAX;
                           * z, or NULL, and then */
    const uint16_t *half; /* [v,b,d] the same in half precision (util/half.h),
                           * if the request asked for it */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_SIZED(features, WIRE_FEATURES)

#endif
