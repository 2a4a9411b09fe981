#ifndef FLOW_HANDOVER_H
#define FLOW_HANDOVER_H

#include "flow/service.h"
#include "wire/hello.h"
#include "wire/next.h"
#include "wire/state.h"

/*
 * The handing over of the state of a service, at both ends, as state machines
 * without socket and clock: STATE and READY, and Service, of foil-wire(5).  Not
 * thread-safe.
 *
 * A client that keeps the state of a service, and when it has to hand it over.
 * One struct for each service; zeroed, it is in STATE.  In state, event, then:
 *
 *     STATE  the last state.ok             READY
 *     STATE  error with id and state       again from the first piece; given up
 *                                          at the eighth such error in a row
 *     READY  greeted by another service    STATE
 *     READY  a step was not applied        STATE
 *     READY  error with id and state       STATE
 */
struct flow_keeper {
    char met[64]; /* the name of the service greeted last; "": none */
    int ready;    /* 1: READY, 0: STATE */
    int tries;    /* how often the state was wanted since the last answer */
};

/*
 * flow_keeper_meets() says that the service of that name is connected.  Returns
 * 1 when the state is to be handed over: it is another service than before, or
 * has not taken the state.  Call it between two steps only: while the weights
 * of a step are used, our state lacks its changes, and a service that took it
 * then would go on without them.
 */
int flow_keeper_meets(struct flow_keeper *keeper, const char *name);

/* flow_keeper_behind() says that the state of the service is not ours: a step
 * was not applied here, or was taken without the service. */
void flow_keeper_behind(struct flow_keeper *keeper);

/*
 * flow_keeper_next() says what answer the service of that name gave: in STATE
 * to the last piece of the state, in READY to the request.  Returns 1 to go on:
 * then `ready` says whether to send the request (1) or the state (0); or 0 when
 * the request ends with this answer.
 */
int flow_keeper_next(struct flow_keeper *keeper, enum flow_answer what,
                     const char *name);

/*
 * The other end: a service with a state, where it stands, and whose it is.
 *
 * The state stands before the step `next`, the first that may be asked for, in
 * the session of a trainer.  For an earlier step, or one of another trainer,
 * the state would be wrong: that trainer has to hand over the state it kept
 * first.  The owner is the peer that brought a piece of a state, or was given
 * weights, last.  While the owner is connected no other peer may change the
 * state; afterwards any peer of the same or a newer session may.
 */
struct flow_stand {
    struct wire_place next; /* session -1: none */
    uint64_t owner;         /* a peer of the server; 0: none yet */
    char name[64];          /* its `peer` in hello, to know it again */
    struct {                /* a state on its way in, piece by piece */
        struct wire_place at;
        int64_t total;
        size_t table, from; /* with which the next piece begins */
    } arrival;
};

/* flow_stand_init() begins with no state and no owner. */
void flow_stand_init(struct flow_stand *stand);

/* flow_stand_begin() puts the state before the first step of a run, without an
 * owner. */
void flow_stand_begin(struct flow_stand *stand, const struct wire_place *at);

/* flow_stand_begins() returns 1 while a trainer is before the first step of
 * another session than the state's, which may be an older one where a peer
 * lied: it may have nothing to hand over, so call flow_stand_begin() as soon as
 * the owner is not connected. */
int flow_stand_begins(const struct flow_stand *stand,
                      const struct wire_place *at);

/* flow_stand_greeted() says that a peer said hello; by its name it may be the
 * owner, on another connection. */
void flow_stand_greeted(struct flow_stand *stand, uint64_t peer,
                        const char *name);

/*
 * flow_stand_check() returns 0 where a peer may use the state in a session,
 * else -1 and a sentence.
 *   owner   the owner's hello where that is another peer and still connected;
 *           else NULL
 */
int flow_stand_check(const struct flow_stand *stand, uint64_t peer,
                     int64_t session, const struct wire_hello *owner,
                     struct err *err);

/* flow_stand_fits() returns 1 for a step of the state's session that is `next`
 * or later. */
int flow_stand_fits(const struct flow_stand *stand,
                    const struct wire_place *at);

/* flow_stand_weighed() says that a step was weighed for a peer: it owns the
 * state, which stands behind that step. */
void flow_stand_weighed(struct flow_stand *stand, const struct wire_place *at,
                        uint64_t peer, const char *name);

/*
 * A state comes piece by piece.  flow_stand_follows() returns 1 when a piece is
 * the first of a state, 0 when it is the next one, -1 and a sentence when it is
 * neither.  flow_stand_add() books that it was good; its peer is the owner now.
 * flow_stand_whole(), for the last piece, returns -1 and a sentence where rows
 * are missing, else 0.  flow_stand_stands() books that the whole state was
 * good: it counts from now on.  flow_stand_drop() forgets a state on its way
 * in.
 */
int flow_stand_follows(struct flow_stand *stand, const struct wire_state *piece,
                       struct err *err);
void flow_stand_add(struct flow_stand *stand, const struct wire_state *piece,
                    uint64_t peer, const char *name);
int flow_stand_whole(const struct flow_stand *stand,
                     const struct wire_state *piece, struct err *err);
void flow_stand_stands(struct flow_stand *stand);
void flow_stand_drop(struct flow_stand *stand);

#endif
