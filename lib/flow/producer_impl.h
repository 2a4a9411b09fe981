#ifndef FLOW_PRODUCER_IMPL_H
#define FLOW_PRODUCER_IMPL_H

#include "flow/producer.h"

#include "lease.h"
#include "peers.h"
#include "window.h"

/*
 * The internals of flow/producer.h: lib/flow/producer.c tracks what peers sent,
 * lib/flow/schedule.c chooses which peer receives what.
 */
struct flow_producer {
    double lease_s; /* duration of a lease */
    struct flow_peers peers;
    struct flow_leases leases;
    struct flow_window newest;
    double received;  /* last new snapshot, not counting the first of a peer */
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
