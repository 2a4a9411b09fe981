#ifndef FLOW_REQUEST_H
#define FLOW_REQUEST_H

#include "flow/service.h"
#include "wire/error.h"

/*
 * A request and its answer, at both ends, as state machines without socket and
 * clock: their callers tell them what came and what time it is (`now`, in
 * seconds from any start, never going back).  lib/flow/service.c asks,
 * lib/flow/server.c answers; flow/handover.h says when a state is handed over.
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
struct flow_asking {
    double timeout, deadline; /* seconds until it is sent again, and given up */
    int64_t last_id;          /* given out */
    int64_t id;               /* of the request */
    int waits;                /* for its answer */
    double begun, sent;       /* when it was asked for, and tried last */
    double pause;             /* seconds before the next new connection */
};

/* flow_asking_id() returns an id for the next request. */
int64_t flow_asking_id(struct flow_asking *asking);

/* flow_asking_begin(): there is a request of that id. */
void flow_asking_begin(struct flow_asking *asking, int64_t id, double now);

/*
 * flow_asking_hear(): an answer with that id came.  Returns 1 when it ends the
 * wait, and in *what how: ANSWERED, NO_STATE or FAILED; 0 when it is to be
 * dropped.
 *   error   the answer, where it is an error about a request; else NULL
 */
int flow_asking_hear(struct flow_asking *asking, int64_t id,
                     const struct wire_error *error, enum flow_answer *what);

/* flow_asking_refuse(): the answer does not fit. */
void flow_asking_refuse(struct flow_asking *asking);

/*
 * flow_asking_turn() returns 0 to wait until *until, 1 when the connection is
 * to be renewed, after flow_asking_pause() seconds, and -1 when the request is
 * given up.  flow_asking_renewed(): it was.
 */
int flow_asking_turn(const struct flow_asking *asking, double now,
                     double *until);
double flow_asking_pause(struct flow_asking *asking);
void flow_asking_renewed(struct flow_asking *asking, double now);

/*
 * The end that answers keeps the last answer to each peer: a repeated request
 * gets the same one, and one from before that, on an earlier connection, is
 * late.  Peers go by the names in their hellos, as their connections come and
 * go; the one that was answered longest ago makes room.
 */
enum { FLOW_KEPT_MAX = 64 };

struct flow_kept {
    uint64_t turn;
    struct {
        char name[64];
        int64_t id;
        uint64_t turn;
        struct wire_msg *msg; /* held; NULL: free */
    } answer[FLOW_KEPT_MAX];
};

/* flow_kept_find() returns the answer to request `id` of a peer, or NULL. */
struct wire_msg *flow_kept_find(const struct flow_kept *kept, const char *name,
                                int64_t id);

/* flow_kept_late() returns 1 when that peer has the answer to a later request:
 * ids rise. */
int flow_kept_late(const struct flow_kept *kept, const char *name, int64_t id);

/* flow_kept_put() holds msg, in place of the peer's answer before. */
void flow_kept_put(struct flow_kept *kept, const char *name, int64_t id,
                   struct wire_msg *msg);

/* flow_kept_release() lets go of all answers. */
void flow_kept_release(struct flow_kept *kept);

#endif
