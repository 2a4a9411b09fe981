#ifndef FLOW_LEASE_H
#define FLOW_LEASE_H

#include "wire/next.h"

/*
 * The producer's book: the places from the consumer's on, in the order of the
 * plan, as far as they are known; see flow/producer.h for its rules.
 */
enum flow_lease_state {
    FLOW_FREE,   /* nobody has it */
    FLOW_LEASED, /* a peer has it */
    FLOW_HAD     /* the consumer has it */
};

struct flow_lease {
    struct wire_place at;
    enum flow_lease_state state;
    uint64_t peer; /* peer that has it, or had it last; 0: none */
    double since;  /* it is so */
    double over;   /* when a lease was seen to be over first; 0: not yet */
};

struct flow_leases {
    size_t n, room;
    struct flow_lease *lease; /* [n] rising */
};

void flow_leases_release(struct flow_leases *leases);

/* flow_leases_add() adds one behind all others, which is free. */
struct flow_lease *flow_leases_add(struct flow_leases *leases,
                                   const struct wire_place *at);

/* flow_leases_find() returns NULL when there is none; O(log n). */
struct flow_lease *flow_leases_find(const struct flow_leases *leases,
                                    const struct wire_place *at);

/* flow_leases_before() returns how many are before a place;
 * flow_leases_forget() takes the first n out. */
size_t flow_leases_before(const struct flow_leases *leases,
                          const struct wire_place *at);
void flow_leases_forget(struct flow_leases *leases, size_t n);

/* flow_leases_free() finds the lowest that is free among the first n, or with
 * `highest` the highest; or NULL. */
struct flow_lease *flow_leases_free(const struct flow_leases *leases, size_t n,
                                    int highest);

#endif
