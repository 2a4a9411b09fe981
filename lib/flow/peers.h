#pragma once

#include "wire/progress.h"

/* The peers of a producer or consumer, some tens: searches are linear. */
struct flow_peer {
    uint64_t number;
    double blocked;  /* until then, nothing is sent to it */
    double notified; /* when the end of the plan (by a producer) or a snapshot
                      * (by a consumer) was last sent to it */
    int ended;       /* it sent end, */
    struct wire_place end; /* with this place */

    /* for a producer */
    int64_t session;  /* of its last snapshot; -1: none */
    size_t room, out; /* leases that it may have, and has */
    uint64_t served;  /* number of its last item, of those to any peer */
    int wants;        /* 1: it sent a snapshot after `notified` */
    unsigned late;    /* number of times in a row that it was late */
    double suspended; /* suspended until then */
    unsigned refused; /* number of items in a row that it refused */
    unsigned
        foreign; /* new snapshots of an older session than ours, in a row */

    int64_t serial; /* of the last snapshot that it sent (producer), or that was
                     * sent to it (consumer); 0: none */
};

struct flow_peers {
    size_t n, room;
    struct flow_peer *peer; /* [n] */
    int end_left;           /* a peer that had sent end has left, */
    struct wire_place end;  /* with this place */
};

void flow_peers_release(struct flow_peers *peers);

/* flow_peers_join() adds a peer; flow_peers_find() returns NULL when there is
 * none of that number. */
struct flow_peer *flow_peers_join(struct flow_peers *peers, uint64_t number);
struct flow_peer *flow_peers_find(const struct flow_peers *peers,
                                  uint64_t number);
void flow_peers_leave(struct flow_peers *peers, uint64_t number);

/* flow_peers_busy() blocks for a moment a peer whose queue is full. */
void flow_peers_busy(struct flow_peer *peer, double now);
