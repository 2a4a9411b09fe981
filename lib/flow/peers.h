#ifndef FLOW_PEERS_H
#define FLOW_PEERS_H

#include "wire/next.h"

/*
 * The peers of a producer or consumer, and the credit that is open with each.
 * Linear searches: there are tens.
 */
struct flow_peer {
    uint64_t number;
    size_t credit;   /* items it waits for, or owes us */
    double blocked;  /* until when it is passed over: it could not be sent to */
    uint64_t served; /* turn in which it got its last item */
    int called;      /* it is to be told that the consumer waits */
    size_t gift;     /* and given so much credit beyond its share */
    int told;        /* that nothing is left of the plan */
    int ended;       /* it said end, and nothing since that takes it back */
};

struct flow_peers {
    size_t n, room;
    struct flow_peer *peer; /* [n] */
    int end_left;           /* one that had said end has left */
    struct wire_place end;  /* the last place that one said end with */
};

void flow_peers_release(struct flow_peers *peers);

/* flow_peers_join() enters a peer; flow_peers_find() returns NULL when there
 * is none of that number. */
struct flow_peer *flow_peers_join(struct flow_peers *peers, uint64_t number);
struct flow_peer *flow_peers_find(const struct flow_peers *peers,
                                  uint64_t number);
void flow_peers_leave(struct flow_peers *peers, uint64_t number);

/* flow_peers_begin(): a newer session: no credit, and no end, counts. */
void flow_peers_begin(struct flow_peers *peers, const struct wire_place *at);

/* flow_peers_end(): a peer said end. */
void flow_peers_end(struct flow_peers *peers, struct flow_peer *peer,
                    const struct wire_place *at);

/* Whether peers have said end: 0 none, 1 some, 2 all that are there. */
int flow_peers_ended(const struct flow_peers *peers);

/* flow_peers_busy(): it could not be sent to. */
void flow_peers_busy(struct flow_peer *peer, double now);

#endif
