#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "peers.h"

/* Seconds between the first and the second look at a silent peer. */
static const double second_look = 0.1;

/* Seconds between two times that a connection is told to say hello. */
static const double pause_again = 1;

void
wire_peers_release(struct wire_peers *peers)
{
    free(peers->peer);
    free(peers->left);
    free(peers->silent);
    free(peers->stranger);
    *peers = (struct wire_peers){0};
}

struct wire_peer *
wire_peers_by_id(const struct wire_peers *peers, const struct wire_id *id)
{
    for (size_t i = 0; i < peers->n; i++) {
        struct wire_peer *peer = &peers->peer[i];

        if (peer->id.len == id->len &&
            !memcmp(peer->id.byte, id->byte, id->len))
            return peer;
    }
    return NULL;
}

struct wire_peer *
wire_peers_by_number(const struct wire_peers *peers, uint64_t number)
{
    for (size_t i = 0; i < peers->n; i++)
        if (peers->peer[i].number == number)
            return &peers->peer[i];
    return NULL;
}

struct wire_peer *
wire_peers_by_name(const struct wire_peers *peers, const char *name)
{
    for (size_t i = 0; i < peers->n && *name; i++)
        if (!strcmp(peers->peer[i].hello.peer, name))
            return &peers->peer[i];
    return NULL;
}

/* One leaves, to be reported by wire_peers_left(). */
static void
leave(struct wire_peers *peers, struct wire_peer *peer)
{
    mem_grow(&peers->left, &peers->room_left, peers->n_left + 1,
             sizeof *peers->left);
    peers->left[peers->n_left++] = peer->number;
    *peer = peers->peer[--peers->n];
}

/* Room for one more, or NULL. */
static struct wire_peer *
make_room(struct wire_peers *peers)
{
    struct wire_peer *oldest = peers->peer;

    for (size_t i = 1; i < peers->n; i++)
        if (peers->peer[i].heard < oldest->heard)
            oldest = &peers->peer[i];
    if (peers->n == WIRE_PEERS_MAX && peers->patient)
        leave(peers, oldest);
    if (peers->n == WIRE_PEERS_MAX)
        return NULL;
    mem_grow(&peers->peer, &peers->room, peers->n + 1, sizeof *peers->peer);
    return &peers->peer[peers->n++];
}

enum wire_greeted
wire_peers_greet(struct wire_peers *peers, const struct wire_id *id,
                 const struct wire_hello *hello, double now,
                 struct wire_peer **peer)
{
    struct wire_peer *before;

    *peer = wire_peers_by_id(peers, id);
    if (*peer) {
        wire_peers_hear(*peer, now);
        return WIRE_KNOWN;
    }
    before = wire_peers_by_name(peers, hello->peer);
    if (before)
        leave(peers, before);
    *peer = make_room(peers);
    if (!*peer)
        return WIRE_CROWDED;
    **peer = (struct wire_peer){
        .number = ++peers->last, .id = *id, .hello = *hello, .heard = now};
    return WIRE_ENTERED;
}

int
wire_peers_again(struct wire_peers *peers, const struct wire_id *id, double now)
{
    struct wire_stranger *stranger = peers->stranger;
    size_t i = 0;

    while (i < peers->n_strangers &&
           (stranger[i].id.len != id->len ||
            memcmp(stranger[i].id.byte, id->byte, id->len)))
        i++;
    if (i < peers->n_strangers && now - stranger[i].told < pause_again)
        return 0;
    if (i == peers->n_strangers && i < WIRE_PEERS_MAX) {
        mem_grow(&peers->stranger, &peers->room_strangers, i + 1,
                 sizeof *stranger);
        peers->n_strangers++;
    } else if (i == peers->n_strangers) { // in the place of the oldest
        i = peers->next_stranger++ % WIRE_PEERS_MAX;
    }
    peers->stranger[i] = (struct wire_stranger){*id, now};
    return 1;
}

void
wire_peers_hear(struct wire_peer *peer, double now)
{
    peer->heard = now;
}

uint64_t
wire_peers_left(struct wire_peers *peers)
{
    return peers->n_left ? peers->left[--peers->n_left] : 0;
}

void
wire_peers_part(struct wire_peers *peers)
{
    for (size_t i = peers->n; i-- > 0;)
        if (peers->peer[i].gone)
            leave(peers, &peers->peer[i]);
}

/* Keep how a silent peer is reached. */
static void
remember(struct wire_peers *peers, const struct wire_id *id)
{
    if (peers->n_silent == WIRE_PEERS_MAX)
        memmove(peers->silent, peers->silent + 1,
                --peers->n_silent * sizeof *peers->silent);
    mem_grow(&peers->silent, &peers->room_silent, peers->n_silent + 1,
             sizeof *peers->silent);
    peers->silent[peers->n_silent++] = *id;
}

void
wire_peers_judge(struct wire_peers *peers, double now)
{
    for (size_t i = peers->n; i-- > 0;) {
        struct wire_peer *peer = &peers->peer[i];

        if (now - peer->heard <= WIRE_SILENCE) {
            peer->suspect = 0;
        } else if (!peer->suspect) {
            peer->suspect = now;
        } else if (now - peer->suspect >= second_look) {
            remember(peers, &peer->id);
            leave(peers, peer);
        }
    }
}
