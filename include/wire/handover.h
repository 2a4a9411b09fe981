#ifndef WIRE_HANDOVER_H
#define WIRE_HANDOVER_H

#include "wire/hello.h"
#include "wire/next.h"
#include "wire/service.h"
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
struct wire_keeper {
    char met[64]; /* the name of the service greeted last; "": none */
    int ready;
    int tries; /* so often since the last answer the state was wanted */
};

/*
 * wire_keeper_meets(): the service that is there has that name.  1 when the
 * state is to be handed over: it is another than before, or has not taken it.
 * Ask between two steps only: while the weights of one are used, what it
 * changes is not in our state, and the service would go on without it.
 */
int wire_keeper_meets(struct wire_keeper *keeper, const char *name);

/* wire_keeper_behind(): a step was not applied, the service is ahead of us; or
 * we went on without it. */
void wire_keeper_behind(struct wire_keeper *keeper);

/*
 * wire_keeper_next(): what came of the last piece of a state, or, READY, of the
 * request, from the service of that name.  Returns 1 to go on, with the state
 * or, READY, with the request; 0 when that is how the request ends.
 */
int wire_keeper_next(struct wire_keeper *keeper, enum wire_answer what,
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
 * afterwards whoever brings the same or a newer session does.
 */
struct wire_stand {
    struct wire_place next; /* session -1: none */
    uint64_t owner;         /* a peer of the server; 0: nobody yet */
    char name[64];          /* of it in hello, by which it comes back */
    struct {                /* a state on its way in, piece by piece */
        struct wire_place at;
        int64_t total;
        size_t table, from; /* with which the next piece begins */
    } arrival;
};

/* wire_stand_init(): it stands nowhere and is nobody's. */
void wire_stand_init(struct wire_stand *stand);

/* wire_stand_begin(): it stands before the first step of a run, nobody's. */
void wire_stand_begin(struct wire_stand *stand, const struct wire_place *at);

/* wire_stand_greeted(): that peer said hello; it may be the owner, on another
 * connection. */
void wire_stand_greeted(struct wire_stand *stand, uint64_t peer,
                        const char *name);

/*
 * wire_stand_check() refuses a peer that may not ask or change it, in a
 * session: -1 and a sentence.
 *   owner   the owner's hello where that is another peer and still connected;
 *           else NULL
 */
int wire_stand_check(const struct wire_stand *stand, uint64_t peer,
                     int64_t session, const struct wire_hello *owner,
                     struct err *err);

/* wire_stand_fits() returns 1 when a step begins where it stands, or later. */
int wire_stand_fits(const struct wire_stand *stand,
                    const struct wire_place *at);

/* wire_stand_weighed(): that step's weights were found, for that peer. */
void wire_stand_weighed(struct wire_stand *stand, const struct wire_place *at,
                        uint64_t peer, const char *name);

/*
 * wire_stand_follows(): a piece of a state came.  1 when it is the first, 0
 * when it is the next, -1 and a sentence when it is neither.
 * wire_stand_add(): it was good, and is that peer's.  wire_stand_whole() with
 * the last one: -1 where rows are missing, else 0.  wire_stand_stands(): all
 * of it was good, and counts.  wire_stand_drop() forgets what came.
 */
int wire_stand_follows(struct wire_stand *stand, const struct wire_state *piece,
                       struct err *err);
void wire_stand_add(struct wire_stand *stand, const struct wire_state *piece,
                    uint64_t peer, const char *name);
int wire_stand_whole(const struct wire_stand *stand,
                     const struct wire_state *piece, struct err *err);
void wire_stand_stands(struct wire_stand *stand);
void wire_stand_drop(struct wire_stand *stand);

#endif
