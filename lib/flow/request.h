#pragma once

#include "flow/client.h"
#include "wire/error.h"

/*
 * A request and its answer, for both ends, as state machines without socket and
 * clock: the tables Client and Service of foil-wire(5).  Their callers pass
 * them what was received and the time (`now`, in seconds from any start, never
 * decreasing).  flow/handover.h decides when a state is handed over.  Not
 * thread-safe.
 *
 * The requesting end (lib/flow/client.c):
 */
struct flow_request {
    double timeout, deadline; /* seconds until it is sent again, and fails */
    int64_t last_id;          /* last one returned by flow_request_id() */
    int64_t id;               /* of the request */
    int waits; /* for its answer; 1 again, when the caller refuses it */
    double begun, sent; /* time of the request, and of the last attempt */
    double pause;       /* seconds before the next new connection */
};

/* flow_request_id() returns an id for the next request. */
int64_t flow_request_id(struct flow_request *request);

/* flow_request_begin() starts to wait for the answer to request `id`. */
void flow_request_begin(struct flow_request *request, int64_t id, double now);

/*
 * flow_request_receive() takes an answer with that id.  Returns 1 when it ends
 * the wait, with *what: ANSWERED, NO_STATE or FAILED; 0 to drop it.
 *   error   the answer, when it is an error about a request; else NULL
 */
int flow_request_receive(struct flow_request *request, int64_t id,
                         const struct wire_error *error,
                         enum flow_answer *what);

/* flow_request_turn() returns 0 to wait until *until, 1 to renew the connection
 * after flow_request_pause() seconds, and then to set `sent`, and -1 when the
 * deadline has passed. */
int flow_request_turn(const struct flow_request *request, double now,
                      double *until);
double flow_request_pause(struct flow_request *request);

/*
 * The answering end (lib/flow/server.c) caches the last answer to each peer: a
 * repeated request gets the same one, and an earlier request, on an old
 * connection, is late. Peers are identified by the names in their hellos, as
 * connections come and go.  When the cache is full, the least recently answered
 * peer is dropped.
 */
enum { FLOW_ANSWER_CACHE_MAX = 64 };

struct flow_answer_cache {
    uint64_t turn;
    struct flow_answer_last {
        char name[64];
        int64_t id;
        uint64_t turn;
        struct wire_msg *msg; /* holds a reference; NULL: free */
    } answer[FLOW_ANSWER_CACHE_MAX];
};

/* flow_answer_cache_find() returns the answer to request `id` of a peer, or
 * NULL. */
struct wire_msg *flow_answer_cache_find(struct flow_answer_cache *cache,
                                        const char *name, int64_t id);

/* flow_answer_cache_late() returns 1 when the cache has the peer's answer to a
 * later request: ids rise. */
int flow_answer_cache_late(struct flow_answer_cache *cache, const char *name,
                           int64_t id);

/* flow_answer_cache_put() holds msg and releases the peer's previous answer. */
void flow_answer_cache_put(struct flow_answer_cache *cache, const char *name,
                           int64_t id, struct wire_msg *msg);

/* flow_answer_cache_release() releases all answers. */
void flow_answer_cache_release(struct flow_answer_cache *cache);
