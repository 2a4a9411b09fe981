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
 * A client that keeps the state: when it hands it over.  One for each service;
 * zeroed, it is in STATE.
 *
 *     STATE  the last state.ok             READY
 *     STATE  error with id and state       from the first piece on; the eighth
 *                                          time in a row it is given up
 *     READY  greeted by another service    STATE
 *     READY  a step was not applied        STATE
 *     READY  error with id and state       STATE
 */
struct flow_keeper {
    char met[64]; /* the name of the service greeted last; "": none */
    int ready;
    int tries; /* so often since the last answer the state was wanted */
};

/*
 * flow_keeper_meets(): the service that is there has that name.  1 when the
 * state is to be handed over: it is another than before, or has not taken it.
 * Ask between two steps only: while the weights of one are used, what it
 * changes is not in our state, and the service would go on without it.
 */
int flow_keeper_meets(struct flow_keeper *keeper, const char *name);

/* flow_keeper_behind(): a step was not applied, the service is ahead of us; or
 * we went on without it. */
void flow_keeper_behind(struct flow_keeper *keeper);

/*
 * flow_keeper_next(): what came of the last piece of a state, or, READY, of the
 * request, from the service of that name.  Returns 1 to go on, with the state
 * or, READY, with the request; 0 when that is how the request ends.
 */
int flow_keeper_next(struct flow_keeper *keeper, enum flow_answer what,
                     const char *name);

/*
 * The sampler that the state of a service belongs to, and the step where it
 * stands.
 *
 * It stands before the step `next`, the first that it may be asked for, in the
 * run of the trainer `next.session`.  An earlier step, or another trainer's,
 * would start from the wrong place: then the trainer has to hand over what it
 * kept first.  It belongs to the peer that brought a piece of a state, or was
 * given weights, last.  Nobody else changes it while that one is connected;
 * afterwards any peer of the same or a newer session does.
 */
struct flow_stand {
    struct wire_place next; /* session -1: none */
    uint64_t owner;         /* a peer of the server; 0: nobody yet */
    char name[64];          /* of it in hello, by which it comes back */
    struct {                /* a state on its way in, piece by piece */
        struct wire_place at;
        int64_t total;
        size_t table, from; /* with which the next piece begins */
    } arrival;
};

/* flow_stand_init(): it stands nowhere and is nobody's. */
void flow_stand_init(struct flow_stand *stand);

/* flow_stand_begin(): it stands before the first step of a run, nobody's. */
void flow_stand_begin(struct flow_stand *stand, const struct wire_place *at);

/* flow_stand_greeted(): that peer said hello; it may be the owner, on another
 * connection. */
void flow_stand_greeted(struct flow_stand *stand, uint64_t peer,
                        const char *name);

/*
 * flow_stand_check() refuses a peer that may not ask or change it, in a
 * session: -1 and a sentence.
 *   owner   the owner's hello where that is another peer and still connected;
 *           else NULL
 */
int flow_stand_check(const struct flow_stand *stand, uint64_t peer,
                     int64_t session, const struct wire_hello *owner,
                     struct err *err);

/* flow_stand_fits() returns 1 when a step begins where it stands, or later. */
int flow_stand_fits(const struct flow_stand *stand,
                    const struct wire_place *at);

/* flow_stand_weighed(): that step's weights were found, for that peer. */
void flow_stand_weighed(struct flow_stand *stand, const struct wire_place *at,
                        uint64_t peer, const char *name);

/*
 * flow_stand_follows(): a piece of a state came.  1 when it is the first, 0
 * when it is the next, -1 and a sentence when it is neither.
 * flow_stand_add(): it was good, and is that peer's.  flow_stand_whole() with
 * the last one: -1 where rows are missing, else 0.  flow_stand_stands(): all
 * of it was good, and counts.  flow_stand_drop() forgets what came.
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
