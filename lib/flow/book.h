#ifndef FLOW_BOOK_H
#define FLOW_BOOK_H

#include "flow/producer.h"

#include "lease.h"
#include "peers.h"
#include "window.h"

/*
 * The inside of flow/producer.h: lib/flow/producer.c books what peers say,
 * lib/flow/turn.c says which peer is sent what.
 */
struct flow_producer {
    double seconds; /* of a lease */
    struct flow_peers peers;
    struct flow_leases leases;
    struct flow_window newest;
    double came;  /* when a new snapshot did, not the first of a peer */
    double said;  /* when it was said last */
    double older; /* since when older ones are said instead; 0: not */
    double moved; /* when the place moved on last, or end came first */
    struct wire_place fresh;
    int closed;
    uint64_t turn;
};

/* flow_book_void(): all leases of a peer are void; returns how many. */
size_t flow_book_void(struct flow_producer *producer, uint64_t peer);

#endif
