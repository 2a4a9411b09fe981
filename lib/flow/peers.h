#ifndef FLOW_PEERS_H
#define FLOW_PEERS_H

#include "wire/next.h"

/*
 * The peers of a producer or consumer.  Linear searches: there are tens.
 */
struct flow_peer {
    uint64_t number;
    double blocked; /* until when it is passed over */
    double told;    /* a producer: that the plan ends; a consumer: the newest
                     * snapshot; when that was */
    int ended;      /* it said end, */
    struct wire_place end; /* with this place */

    /* of a producer */
    int64_t session;  /* that it spoke of last; -1: none */
    size_t room, out; /* leases that it may have, and has */
    uint64_t served;  /* turn in which it got its last item */
    int asks;         /* it has spoken since it was told */
    unsigned late;    /* times in a row, */
    double aside;     /* until when it gets nothing */
    unsigned refused; /* items in a row */

    int64_t
        serial; /* of the snapshot that it said last, or was told; 0: none */
};

struct flow_peers {
    size_t n, room;
    struct flow_peer *peer; /* [n] */
    int end_left;           /* one that had said end has left, */
    struct wire_place end;  /* with this place */
};

void flow_peers_release(struct flow_peers *peers);

/* flow_peers_join() enters a peer; flow_peers_find() returns NULL when there
 * is none of that number. */
struct flow_peer *flow_peers_join(struct flow_peers *peers, uint64_t number);
struct flow_peer *flow_peers_find(const struct flow_peers *peers,
                                  uint64_t number);
void flow_peers_leave(struct flow_peers *peers, uint64_t number);

/* flow_peers_busy(): it could not be sent to. */
void flow_peers_busy(struct flow_peer *peer, double now);

#endif
