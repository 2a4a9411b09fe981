#ifndef WIRE_STATE_H
#define WIRE_STATE_H

#include "util/weights.h"
#include "wire/codec.h"

/*
 * state.put: the state of a negatives service that the trainer stored, returned
 * to it in pieces; each piece is answered with state.ok.  A piece has rows of
 * one table; tables come in their order, rows from the first to the last.
 */
struct wire_state {
    int64_t id;                     /* of the request */
    int64_t session, epoch, step;   /* the first step that is not in it */
    char sampler[SAMPLER_NAME_MAX]; /* the state's sampler, as in its hello */
    int64_t total;                  /* steps trained */
    int fresh;    /* 1: the trainer has no state, however many steps are
                   * trained, and sends no tables */
    size_t n;     /* up to TABLES_MAX */
    int64_t from; /* first row of this piece */
    int last;     /* 1: this is the last piece */
    struct table_rows *tables; /* [n] all tables; at most one of them has rows.
                                * A decoded state owns the array */
    struct wire_msg *msg;      /* held by a decoded one; else NULL */
};

WIRE_HELD(state, WIRE_STATE_PUT)

/* state.ok: the piece was accepted. */
struct wire_state_ok {
    int64_t id;
    int64_t session, epoch, step;
};

WIRE_PLAIN(state_ok, WIRE_STATE_OK)

#endif
