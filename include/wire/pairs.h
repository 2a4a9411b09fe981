#ifndef WIRE_PAIRS_H
#define WIRE_PAIRS_H

#include "util/batch.h"
#include "wire/codec.h"
#include "wire/views.h"

/*
 * pairs: a request for the weights of a batch's negatives, with its embeddings;
 * trainer to negatives service, answered by weights (wire/weights.h).
 */
struct wire_pairs {
    int64_t id;         /* of the request; the answer repeats it */
    int64_t session;    /* as in wire/next.h */
    struct batch batch; /* epoch, step, b, v, ids, fixed, view_of, texts,
                         * captions; beta, up to 1e9, dim, up to WIRE_DIM_MAX,
                         * z; of extra all but pixels */
    char kind[8];       /* "view", or "": rows of z are views of one image;
                         * "pair": view 0 is an image, view 1 its caption */
    const float *extra_text_z; /* [s,d] of the further captions */
    struct wire_msg *msg;      /* held by a decoded one; else NULL */
};

WIRE_SIZED(pairs, WIRE_PAIRS)

#endif
