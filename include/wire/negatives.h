#pragma once

#include "util/batch.h"
#include "util/weights.h"
#include "wire/batch.h"
#include "wire/codec.h"

/* The messages of edge negatives; ok is also one of edge features. */

/* weights.get: a request for the weights of a batch's negatives, with its
 * embeddings; trainer to negatives service, answered by weights. */
struct wire_weights_request {
    int64_t id;         /* of the request; the answer repeats it */
    int64_t session;    /* as in wire/progress.h */
    struct batch batch; /* epoch, step, b, v, ids, fixed, view_of, texts,
                         * captions; beta, up to 1e9, dim, up to WIRE_DIM_MAX,
                         * z; of extra all but pixels */
    char kind[8];       /* "view", or "": rows of z are views of one image;
                         * "pair": view 0 is an image, view 1 its caption */
    const float *extra_text_z; /* [s,d] of the further captions */
    struct wire_msg *msg;      /* held by a decoded one; else NULL */
};

WIRE_SIZED(weights_request, WIRE_WEIGHTS_GET)

/* weights: how much each negative counts; the answer to `weights.get`. */
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

/* state.put: the state of a negatives service that the trainer stored, returned
 * to it in pieces; each piece is answered with ok.  A piece has rows of one
 * table; tables come in their order, rows from the first to the last. */
struct wire_state {
    int64_t id;                     /* of the request */
    int64_t session, epoch, step;   /* the first step that is not in it */
    char sampler[SAMPLER_NAME_MAX]; /* the state's sampler, as in its hello */
    int64_t total;                  /* steps trained */
    int empty;    /* 1: the trainer has no state, however many steps are
                   * trained, and sends no tables */
    size_t n;     /* up to TABLES_MAX */
    int64_t from; /* first row of this piece */
    int last;     /* 1: this is the last piece */
    struct table_rows *tables; /* [n] all tables; at most one of them has rows.
                                * A decoded state owns the array */
    struct wire_msg *msg;      /* held by a decoded one; else NULL */
};

WIRE_HELD(state, WIRE_STATE_PUT)

/* ok: the piece was accepted. */
struct wire_ok {
    int64_t id;
    int64_t session, epoch, step;
};

WIRE_PLAIN(ok, WIRE_OK)
