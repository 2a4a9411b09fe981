#pragma once

#include "flow/client.h"
#include "wire/hello.h"
#include "wire/negatives.h"
#include "wire/progress.h"

/*
 * How the state of a service is handed over, for both ends, as state machines
 * without socket and clock: the tables Client and Service of foil-wire(5).  Not
 * thread-safe.
 *
 * The client keeps a copy of the state of its service, and this struct decides
 * when to send it.  One struct for each service; zeroed, it is in STATE.
 */
struct flow_state_copy {
    char service[64]; /* name in the last hello of a service; "": none */
    int ready;        /* 1: READY, 0: STATE */
    int tries;        /* requests for the state since the last answer */
};

/*
 * flow_state_copy_needs_handover() records that the service `name` is
 * connected.  Returns 1 when it needs the state: it is another service than
 * before, or has not received the state.  Call it between two steps only: while
 * the weights of a step are in use, our copy lacks that step's changes, and the
 * service would continue without them.
 */
int flow_state_copy_needs_handover(struct flow_state_copy *copy,
                                   const char *name);

/* flow_state_copy_mark_stale() records that our state and that of the service
 * differ: a step was not applied here, or was computed without the service. */
void flow_state_copy_mark_stale(struct flow_state_copy *copy);

/*
 * flow_state_copy_on_answer() takes the answer of service `name`: in STATE to
 * the last piece of the state, in READY to the request.  Returns 1 to continue,
 * and then `ready` says whether to send the request (1) or the state (0); or 0
 * when the request ends with this answer.
 */
int flow_state_copy_on_answer(struct flow_state_copy *copy,
                              enum flow_answer what, const char *name);

/*
 * The service's end: the position of its state, and which peer owns it.
 *
 * `next` is the first step for which the state can be used, in the session of a
 * trainer.  For an earlier step, or one of another trainer, it would be wrong:
 * that trainer has to send its copy first.  The owner is the peer that last
 * sent a piece of a state or received weights.  While the owner is connected,
 * no other peer may change the state; afterwards any peer of the same or a
 * newer session may.
 */
struct flow_state_owner {
    struct wire_place next; /* session -1: none */
    uint64_t owner;         /* number of a peer of the server; 0: none yet */
    char name[64];          /* its `peer` in hello, to recognise it later */
    struct {                /* a state that is being received in pieces */
        struct wire_place at;
        int64_t total;
        size_t table, from; /* where the next piece has to begin */
    } arrival;
};

/* flow_state_owner_init() starts with no state and no owner. */
void flow_state_owner_init(struct flow_state_owner *state);

/* flow_state_owner_begin() places the state before the first step of a run,
 * without an owner. */
void flow_state_owner_begin(struct flow_state_owner *state,
                            const struct wire_place *at);

/* flow_state_owner_is_new_run() returns 1 for a trainer that is before the
 * first step of another session than the state's.  That session may also be an
 * older one, as a peer may have sent a false newer one.  Such a trainer may
 * have no state to hand over: call flow_state_owner_begin() as soon as the
 * owner is not connected. */
int flow_state_owner_is_new_run(const struct flow_state_owner *state,
                                const struct wire_place *at);

/* flow_state_owner_on_hello() records the hello of a peer; a peer with the
 * owner's name is the owner on a new connection. */
void flow_state_owner_on_hello(struct flow_state_owner *state, uint64_t peer,
                               const char *name);

/*
 * flow_state_owner_check() returns 0 when a peer may use the state in a
 * session, else -1 with a message.
 *   owner   the owner's hello when it is another peer that is still connected;
 *           else NULL
 */
int flow_state_owner_check(const struct flow_state_owner *state, uint64_t peer,
                           int64_t session, const struct wire_hello *owner,
                           struct err *err);

/* flow_state_owner_fits() returns 1 for a step of the state's session that is
 * `next` or later. */
int flow_state_owner_fits(const struct flow_state_owner *state,
                          const struct wire_place *at);

/* flow_state_owner_advance() records that weights of step `at` were computed
 * for a peer: it becomes the owner, and `next` the step after it. */
void flow_state_owner_advance(struct flow_state_owner *state,
                              const struct wire_place *at, uint64_t peer,
                              const char *name);

/*
 * A state arrives in pieces.  flow_state_owner_check_piece() returns 1 for the
 * first piece of a state, 0 for the expected next one, -1 with a message for
 * any other.  flow_state_owner_add_piece() records a valid piece; its peer
 * becomes the owner. flow_state_owner_check_complete(), for the last piece,
 * returns -1 with a message when rows are missing, else 0.
 * flow_state_owner_commit() makes the received state the current one.
 * flow_state_owner_discard() discards a state that is being received.
 */
int flow_state_owner_check_piece(struct flow_state_owner *state,
                                 const struct wire_state *piece,
                                 struct err *err);
void flow_state_owner_add_piece(struct flow_state_owner *state,
                                const struct wire_state *piece, uint64_t peer,
                                const char *name);
int flow_state_owner_check_complete(const struct flow_state_owner *state,
                                    const struct wire_state *piece,
                                    struct err *err);
void flow_state_owner_commit(struct flow_state_owner *state);
void flow_state_owner_discard(struct flow_state_owner *state);
