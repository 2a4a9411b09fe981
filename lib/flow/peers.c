#include <stdlib.h>

#include "util/mem.h"

#include "peers.h"

/* Seconds for which a peer that could not be sent to is passed over. */
static const double pause = 0.05;

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
    peers->peer[peers->n] = (struct flow_peer){.number = number};
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
    peers->end_left |= peer->ended;
    *peer = peers->peer[--peers->n];
}

void
flow_peers_begin(struct flow_peers *peers, const struct wire_place *at)
{
    for (size_t i = 0; i < peers->n; i++) {
        struct flow_peer *peer = &peers->peer[i];

        peer->credit = 0;
        peer->told = peer->ended = peer->called = 0;
    }
    peers->end_left = 0;
    peers->end = *at;
}

void
flow_peers_end(struct flow_peers *peers, struct flow_peer *peer,
               const struct wire_place *at)
{
    peer->ended = 1;
    if (wire_place_cmp(at, &peers->end) > 0)
        peers->end = *at;
}

int
flow_peers_ended(const struct flow_peers *peers)
{
    int some = peers->end_left, all = 1;

    for (size_t i = 0; i < peers->n; i++) {
        some |= peers->peer[i].ended;
        all &= peers->peer[i].ended;
    }
    return some ? 1 + all : 0;
}

void
flow_peers_busy(struct flow_peer *peer, double now)
{
    peer->blocked = now + pause;
}
