#ifndef WIRE_STATE_H
#define WIRE_STATE_H

#include "wire/msg.h"

/*
 * state, state.put, state.ok: a service's durable state, asked for and given
 * back by the trainer, the only writer of files.
 *
 *     id           whole  number of the request
 *     session      whole  as in wire/next.h
 *     epoch, step  whole  the first step that is not in the state
 *     fresh        bool   optional, of state.put: nothing of it has begun,
 *                         however many steps are trained
 *     tensors      whatever the stage names, up to WIRE_TENSORS_MAX
 *
 * "state" without tensors asks; "state" with them answers; "state.put" hands
 * over; "state.ok" says that it was taken.
 */
struct wire_state {
    int64_t id, session, epoch, step;
    int fresh;
    size_t n;                    /* tensors */
    struct wire_tensor *tensors; /* [n], names and data inside */
    struct wire_msg *msg;        /* held by a decoded one; else NULL */
};

/*
 * kind: WIRE_STATE, WIRE_STATE_PUT or WIRE_STATE_OK.  A decoded state owns
 * the array `tensors`; their data point into msg, which it holds.
 */
struct wire_msg *wire_state_put(enum wire_kind kind,
                                const struct wire_state *state);
int wire_state_get(struct wire_state *state, struct wire_msg *msg,
                   struct err *err);
void wire_state_release(struct wire_state *state);

/* wire_state_find() returns the tensor of that name, or NULL. */
const struct wire_tensor *wire_state_find(const struct wire_state *state,
                                          const char *name);

#endif
