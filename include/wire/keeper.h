#ifndef WIRE_KEEPER_H
#define WIRE_KEEPER_H

#include "wire/service.h"

/*
 * A client that keeps the state of a service: when it hands it over.  A state
 * machine without socket and clock, STATE and READY of foil-wire(5); zeroed, it
 * is in STATE.
 *
 *     STATE  the last state.ok             READY
 *     STATE  error with id and state       from the first piece on; the eighth
 *                                          time in a row it is given up
 *     READY  greeted by another service    STATE
 *     READY  a step was not applied        STATE
 *     READY  error with id and state       STATE
 *
 * One for each service.  Use from one thread.
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

#endif
