#include <stdlib.h>

#include "util/mem.h"

#include "peers.h"

/* Seconds for which a peer is skipped after a failed send. */
static const double skip_s = 0.05;

void
flow_peers_release(struct flow_peers *peers)
{
    free(peers->peer);
    *peers = (struct flow_peers){0};
}

struct flow_peer *
flow_peers_join(struct flow_peers *peers, uint64_t number)
{
    REQUIRE(number && !flow_peers_find(peers, number));
    mem_grow(&peers->peer, &peers->room, peers->n + 1, sizeof *peers->peer);
    peers->peer[peers->n] =
        (struct flow_peer){.number = number, .session = -1, .notified = -1e9};
    return &peers->peer[peers->n++];
}

struct flow_peer *
flow_peers_find(const struct flow_peers *peers, uint64_t number)
{
    for (size_t i = 0; i < peers->n; i++)
        if (peers->peer[i].number == number)
            return &peers->peer[i];
    return NULL;
}

void
flow_peers_leave(struct flow_peers *peers, uint64_t number)
{
    struct flow_peer *peer = flow_peers_find(peers, number);

    if (!peer)
        return;
    if (peer->ended) {
        peers->end_left = 1;
        peers->end = peer->end;
    }
    *peer = peers->peer[--peers->n];
}

void
flow_peers_busy(struct flow_peer *peer, double now)
{
    peer->blocked = now + skip_s;
}
