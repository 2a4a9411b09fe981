#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include "wire/error.h"
#include "wire/service.h"

/*
 * A request and its answer, at both ends, as state machines without socket and
 * clock: their callers tell them what came and what time it is (`now`, in
 * seconds from any start, never going back).  lib/wire/service.c asks,
 * lib/wire/server.c answers; wire/handover.h says when a state is handed over.
 *
 * The end that asks:
 *
 *     what happens                  then
 *     a request                     send it, once greeted
 *     the answer with its id        done
 *     an error with its id          done: there is no answer
 *     an answer that does not fit   wait on
 *     another id                    drop it
 *     no answer in time             after a pause, the same on a new connection
 *     the deadline                  done: there is no answer
 *
 * Not thread-safe.
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
 * wire_asking_hear(): an answer with that id came.  Returns 1 when it ends the
 * wait, and in *what how: ANSWERED, NO_STATE or FAILED; 0 when it is to be
 * dropped.
 *   error   the answer, where it is an error about a request; else NULL
 */
int wire_asking_hear(struct wire_asking *asking, int64_t id,
                     const struct wire_error *error, enum wire_answer *what);

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

/*
 * The end that answers keeps the last answer to each peer: a repeated request
 * gets the same one, and one from before that, on an earlier connection, is
 * late.  Peers go by the names in their hellos, as their connections come and
 * go; the one that was answered longest ago makes room.
 */
enum { WIRE_KEPT_MAX = 64 };

struct wire_kept {
    uint64_t turn;
    struct {
        char name[64];
        int64_t id;
        uint64_t turn;
        struct wire_msg *msg; /* held; NULL: free */
    } answer[WIRE_KEPT_MAX];
};

/* wire_kept_find() returns the answer to request `id` of a peer, or NULL. */
struct wire_msg *wire_kept_find(const struct wire_kept *kept, const char *name,
                                int64_t id);

/* wire_kept_late() returns 1 when that peer has the answer to a later request:
 * ids rise. */
int wire_kept_late(const struct wire_kept *kept, const char *name, int64_t id);

/* wire_kept_put() holds msg, in place of the peer's answer before. */
void wire_kept_put(struct wire_kept *kept, const char *name, int64_t id,
                   struct wire_msg *msg);

/* wire_kept_release() lets go of all answers. */
void wire_kept_release(struct wire_kept *kept);

#endif
