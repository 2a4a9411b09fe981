#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "roll.h"

/* Seconds between the first and the second look at a silent peer. */
static const double second_look = 0.1;

/* Seconds between two times that a connection is told to say hello. */
static const double pause_again = 1;

void
flow_roll_release(struct flow_roll *peers)
{
    free(peers->peer);
    free(peers->left);
    free(peers->silent);
    free(peers->stranger);
    *peers = (struct flow_roll){0};
}

struct flow_greeted *
flow_roll_by_id(const struct flow_roll *peers, const struct wire_id *id)
{
    for (size_t i = 0; i < peers->n; i++) {
        struct flow_greeted *peer = &peers->peer[i];

        if (peer->id.len == id->len &&
            !memcmp(peer->id.byte, id->byte, id->len))
            return peer;
    }
    return NULL;
}

struct flow_greeted *
flow_roll_by_number(const struct flow_roll *peers, uint64_t number)
{
    for (size_t i = 0; i < peers->n; i++)
        if (peers->peer[i].number == number)
            return &peers->peer[i];
    return NULL;
}

struct flow_greeted *
flow_roll_by_name(const struct flow_roll *peers, const char *name)
{
    for (size_t i = 0; i < peers->n && *name; i++)
        if (!strcmp(peers->peer[i].hello.peer, name))
            return &peers->peer[i];
    return NULL;
}

/* One leaves, to be reported by flow_roll_left(). */
static void
drop_peer(struct flow_roll *peers, struct flow_greeted *peer)
{
    mem_grow(&peers->left, &peers->room_left, peers->n_left + 1,
             sizeof *peers->left);
    peers->left[peers->n_left++] = peer->number;
    *peer = peers->peer[--peers->n];
}

/* Room for one more, or NULL. */
static struct flow_greeted *
make_room(struct flow_roll *peers)
{
    struct flow_greeted *oldest = peers->peer;

    for (size_t i = 1; i < peers->n; i++)
        if (peers->peer[i].heard < oldest->heard)
            oldest = &peers->peer[i];
    if (peers->n == FLOW_PEERS_MAX && peers->patient)
        drop_peer(peers, oldest);
    if (peers->n == FLOW_PEERS_MAX)
        return NULL;
    mem_grow(&peers->peer, &peers->room, peers->n + 1, sizeof *peers->peer);
    return &peers->peer[peers->n++];
}

enum flow_entry
flow_roll_greet(struct flow_roll *peers, const struct wire_id *id,
                const struct wire_hello *hello, double now,
                struct flow_greeted **peer)
{
    struct flow_greeted *before;

    *peer = flow_roll_by_id(peers, id);
    if (*peer) {
        (*peer)->heard = now;
        return FLOW_KNOWN;
    }
    before = flow_roll_by_name(peers, hello->peer);
    if (before)
        drop_peer(peers, before);
    *peer = make_room(peers);
    if (!*peer)
        return FLOW_CROWDED;
    **peer = (struct flow_greeted){
        .number = ++peers->last, .id = *id, .hello = *hello, .heard = now};
    return FLOW_ENTERED;
}

int
flow_roll_again(struct flow_roll *peers, const struct wire_id *id, double now)
{
    struct flow_stranger *stranger = peers->stranger;
    size_t i = 0;

    while (i < peers->n_strangers &&
           (stranger[i].id.len != id->len ||
            memcmp(stranger[i].id.byte, id->byte, id->len)))
        i++;
    if (i < peers->n_strangers && now - stranger[i].told < pause_again)
        return 0;
    if (i == peers->n_strangers && i < FLOW_PEERS_MAX) {
        mem_grow(&peers->stranger, &peers->room_strangers, i + 1,
                 sizeof *stranger);
        peers->n_strangers++;
    } else if (i == peers->n_strangers) { // in the place of the oldest
        i = peers->next_stranger++ % FLOW_PEERS_MAX;
    }
    peers->stranger[i] = (struct flow_stranger){*id, now};
    return 1;
}

uint64_t
flow_roll_left(struct flow_roll *peers)
{
    return peers->n_left ? peers->left[--peers->n_left] : 0;
}

void
flow_roll_part(struct flow_roll *peers)
{
    for (size_t i = peers->n; i-- > 0;)
        if (peers->peer[i].gone)
            drop_peer(peers, &peers->peer[i]);
}

/* Keep how a silent peer is reached. */
static void
keep_silent(struct flow_roll *peers, const struct wire_id *id)
{
    if (peers->n_silent == FLOW_PEERS_MAX)
        memmove(peers->silent, peers->silent + 1,
                --peers->n_silent * sizeof *peers->silent);
    mem_grow(&peers->silent, &peers->room_silent, peers->n_silent + 1,
             sizeof *peers->silent);
    peers->silent[peers->n_silent++] = *id;
}

void
flow_roll_expire(struct flow_roll *peers, double now)
{
    for (size_t i = peers->n; i-- > 0;) {
        struct flow_greeted *peer = &peers->peer[i];

        if (now - peer->heard <= WIRE_SILENCE) {
            peer->suspect = 0;
        } else if (!peer->suspect) {
            peer->suspect = now;
        } else if (now - peer->suspect >= second_look) {
            keep_silent(peers, &peer->id);
            drop_peer(peers, peer);
        }
    }
}
