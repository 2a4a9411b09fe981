#ifndef WIRE_STATE_H
#define WIRE_STATE_H

#include "wire/codec.h"

/*
 * state, state.put, state.ok: a service's durable state, asked for and given
 * back by the trainer, the only writer of files.  "state" without tensors
 * asks; "state" with them answers; "state.put" hands over; "state.ok" says
 * that it was taken.  Of a decoded one `tensors` is its own, and what they
 * point to lies in msg.
 */
struct wire_state {
    int64_t id;                   /* of the request */
    int64_t session, epoch, step; /* the first step that is not in it */
    int fresh; /* of state.put: nothing of it has begun, however many steps are
                * trained */
    size_t n;  /* up to WIRE_TENSORS_MAX */
    struct wire_tensor *tensors; /* [n] whatever the stage names */
    struct wire_msg *msg;        /* held by a decoded one; else NULL */
};

/* The three have the same fields; kind is one of them. */
static inline struct wire_msg *
wire_state_put(enum wire_kind kind, const struct wire_state *state)
{
    REQUIRE(kind == WIRE_STATE || kind == WIRE_STATE_PUT ||
            kind == WIRE_STATE_OK);
    return wire_encode(kind, state);
}

static inline int
wire_state_get(struct wire_state *state, struct wire_msg *msg, struct err *err)
{
    return wire_decode(WIRE_STATE, state, msg, 0, err);
}

WIRE_RELEASE(state, WIRE_STATE)

#endif
