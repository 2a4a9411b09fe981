#ifndef WIRE_STAND_H
#define WIRE_STAND_H

#include "wire/hello.h"
#include "wire/next.h"
#include "wire/state.h"

/*
 * The sampler that the state of a service belongs to, and the step where it
 * stands: a state machine without socket and clock, Service of foil-wire(5).
 * wire/keeper.h is the other end.
 *
 * It stands before the step `next`, the first that it may be asked for, in the
 * run of the trainer `next.session`.  An earlier step, or another trainer's,
 * would start from the wrong place: then the trainer has to hand over what it
 * kept first.  It belongs to the peer that brought a piece of a state, or was
 * given weights, last.  Nobody else changes it while that one is connected;
 * afterwards whoever brings the same or a newer session does.
 *
 * Use from one thread.
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
 * wire_stand_judge() refuses a peer that may not ask or change it, in a
 * session: -1 and a sentence.
 *   owner   the owner's hello where that is another peer and still connected;
 *           else NULL
 */
int wire_stand_judge(const struct wire_stand *stand, uint64_t peer,
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
