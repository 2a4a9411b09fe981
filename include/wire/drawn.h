#ifndef WIRE_DRAWN_H
#define WIRE_DRAWN_H

#include "wire/codec.h"

/*
 * drawn: the k negatives with the most weight from the sampler in a step, for
 * each anchor; trainer to subscribers, while there are any.  An anchor with
 * fewer weighed negatives has -1 with a weight of 0 for the rest.
 */
enum { WIRE_DRAWN_MAX = 64 }; /* k */

struct wire_drawn {
    int64_t sequence; /* counts the publisher's messages from 0 */
    int64_t epoch, step;
    char sampler[64];        /* name and version, "emc2 1"; or "" */
    double beta;             /* inverse temperature */
    int64_t columns;         /* negatives that were weighed for an anchor */
    size_t n_views, n, k;    /* anchors are v*b rows: view v of image b */
    const int64_t *ids;      /* [b] */
    const int32_t *row;      /* [v,b,k] of the encoded batch: below v*b view
                              * row div b of image row mod b, above that further
                              * samples; -1: not of this step */
    const int64_t *sample;   /* [v,b,k] -1: not known */
    const int32_t *view;     /* [v,b,k] index of its view; -1: not known */
    const int64_t *of_epoch; /* [v,b,k] epoch of the view; 0 for fixed views;
                              * -1: not known */
    const float *w;          /* [v,b,k] weights, falling */
    const float *cosine;     /* [v,b,k] similarities to the anchor */
    const float *outside;    /* [v,b] weight outside of the batch */
    const float *effective;  /* [v,b] 1 / sum w^2, of all negatives */
    struct wire_msg *msg;    /* held by a decoded one; else NULL */
};

WIRE_SIZED(drawn, WIRE_DRAWN)

#endif
