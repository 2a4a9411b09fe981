#ifndef WIRE_ASKING_H
#define WIRE_ASKING_H

#include "wire/error.h"
#include "wire/service.h"

/*
 * The request of a client to a service, as a state machine: it has no socket
 * and no clock.  Its caller tells it what came and what time it is (`now`, in
 * seconds from any start, never going back).  lib/wire/service.c binds it to a
 * socket; wire/keeper.h says when a state is handed over, wire/stand.h is the
 * other end.
 *
 *     what happens                  then
 *     a request                     send it, once greeted
 *     the answer with its id        done
 *     an error with its id          done: there is no answer
 *     an answer that does not fit   wait on
 *     another id                    drop it
 *     no answer in time             after a pause, the same on a new connection
 *     the deadline                  done: there is no answer
 */
struct wire_asking {
    double timeout, deadline; /* seconds until it is sent again, and given up */
    int64_t last_id;          /* given out */
    int64_t id;               /* of the request */
    int waits;                /* for its answer */
    double begun, sent;       /* when it was asked for, and tried last */
    double pause;             /* seconds before the next new connection */
};

/* wire_asking_id() returns an id for the next request. */
int64_t wire_asking_id(struct wire_asking *asking);

/* wire_asking_begin(): there is a request of that id. */
void wire_asking_begin(struct wire_asking *asking, int64_t id, double now);

/*
 * wire_asking_hear(): a message with that id came, -1 where it has none; error
 * is NULL where it is none.  Returns what that comes to, STOPPED: go on
 * waiting; ODD: an error about a message, which is to be counted and printed.
 */
enum wire_answer wire_asking_hear(struct wire_asking *asking, int64_t id,
                                  const struct wire_error *error);

/* wire_asking_refuse(): the answer does not fit. */
void wire_asking_refuse(struct wire_asking *asking);

/*
 * wire_asking_turn() returns 0 to wait until *until, 1 when the connection is
 * to be renewed, after wire_asking_pause() seconds, and -1 when the request is
 * given up.  wire_asking_renewed(): it was.
 */
int wire_asking_turn(const struct wire_asking *asking, double now,
                     double *until);
double wire_asking_pause(struct wire_asking *asking);
void wire_asking_renewed(struct wire_asking *asking, double now);

#endif
