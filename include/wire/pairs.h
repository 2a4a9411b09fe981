#ifndef WIRE_PAIRS_H
#define WIRE_PAIRS_H

#include "wire/codec.h"
#include "wire/views.h"

/*
 * pairs: the embeddings of a batch, whose negatives are to be weighed; trainer
 * to negatives service, answered by weights (wire/weights.h).  Rows of z and
 * extra_z have unit length.
 */
struct wire_pairs {
    int64_t id;                      /* of the request; the answer repeats it */
    int64_t session, epoch, step;    /* as in wire/next.h */
    double beta;                     /* inverse temperature, > 0, up to 1e9 */
    size_t n, n_views, dim, n_extra; /* b, v; d, up to WIRE_DIM_MAX; r */
    const int64_t *ids;              /* [b] */
    const float *z;                  /* [v,b,d] */
    const int64_t *extra_ids;        /* [r] or NULL */
    const float *extra_z;            /* [r,d] */
    struct wire_extra of_extra;      /* as in the item */
    char kind[8];  /* "view", or "": rows of z are views of one image; "pair":
                    * view 0 is an image, view 1 its caption */
    int64_t texts; /* K, as in the batch; 0: not given */
    const int32_t *captions;    /* [b] as in the batch; or NULL */
    size_t n_texts;             /* s, further captions; 0: none */
    const int64_t *extra_texts; /* [s,2] as in the item, or NULL */
    const float *extra_text_z;  /* [s,d] */
    struct wire_variants variants;
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_SIZED(pairs, WIRE_PAIRS)

#endif
