#ifndef FLOW_PRODUCER_IMPL_H
#define FLOW_PRODUCER_IMPL_H

#include "flow/producer.h"

#include "peers.h"
#include "window.h"

/*
 * The producer's book: the places from the consumer's on, in the order of the
 * plan, as far as known; flow/producer.h has its rules.
 */
enum flow_lease_state {
    FLOW_FREE,     /* no peer has it */
    FLOW_LEASED,   /* a peer has it */
    FLOW_DELIVERED /* the consumer has it */
};

struct flow_lease {
    struct wire_place at;
    enum flow_lease_state state;
    uint64_t peer; /* peer that has it, or had it last; 0: none */
    double since;  /* when the lease began */
    double over;   /* when its end was first noticed; 0: not yet */
};

struct flow_leases {
    size_t n, room;
    struct flow_lease *lease; /* [n] in rising order */
};

void flow_leases_release(struct flow_leases *leases);

/* flow_leases_add() adds a free place after all others. */
struct flow_lease *flow_leases_add(struct flow_leases *leases,
                                   const struct wire_place *at);

/* flow_leases_find() returns the entry of a place, or NULL; O(log n). */
struct flow_lease *flow_leases_find(const struct flow_leases *leases,
                                    const struct wire_place *at);

/* flow_leases_before() returns how many are before a place;
 * flow_leases_forget() removes the first n. */
size_t flow_leases_before(const struct flow_leases *leases,
                          const struct wire_place *at);
void flow_leases_forget(struct flow_leases *leases, size_t n);

/* flow_leases_free() returns the lowest free place among the first n, or with
 * `highest` the highest; or NULL. */
struct flow_lease *flow_leases_free(const struct flow_leases *leases, size_t n,
                                    int highest);

/*
 * The internals of flow/producer.h: lib/flow/producer.c tracks what peers sent,
 * lib/flow/schedule.c chooses which peer receives what.
 */
struct flow_producer {
    double lease_s; /* duration of a lease */
    struct flow_peers peers;
    struct flow_leases leases;
    struct flow_window newest;
    double received;  /* last new snapshot that was also new from its peer */
    double confirmed; /* when a peer last sent the newest snapshot */
    double older;     /* since when only older ones are sent; 0: they are not */
    double moved;     /* last change of the place, or the first end of a peer */
    struct wire_place fresh; /* first place after the book */
    int closed;              /* the plan ends there */
    uint64_t turn;           /* items sent so far */
};

/* flow_producer_revoke() revokes all leases of a peer; returns how many. */
size_t flow_producer_revoke(struct flow_producer *producer, uint64_t peer);

#endif
