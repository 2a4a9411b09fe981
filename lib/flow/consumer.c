#include <stdlib.h>

#include "flow/consumer.h"
#include "util/mem.h"

#include "peers.h"

/* Seconds until we say that we wait, and between two times. */
static const double starving = 1;

/* So many rooms are held at most. */
enum { ROOMS_MAX = 4 };

struct held {
    struct wire_place at;
    void *item;
};

struct flow_consumer {
    struct flow_peers peers;
    struct wire_place at;
    int waits;
    size_t room, most_room; /* now; at most so far */
    size_t n, room_held;
    struct held *held; /* [n], not sorted */
    int waiting;
    double since;         /* it is so */
    double called, pause; /* when we called last; until the next call */
    size_t calls;         /* in this wait */
    size_t turn;          /* calls so far */
    int short_of;         /* the last one that helped was a first one */
};

struct flow_consumer *
flow_consumer_new(const struct wire_place *at, int waits)
{
    struct flow_consumer *c = mem_array(1, sizeof *c);

    c->at = c->peers.end = *at;
    c->waits = waits;
    return c;
}

void
flow_consumer_free(struct flow_consumer *c)
{
    if (!c)
        return;
    REQUIRE(!c->n);
    flow_peers_release(&c->peers);
    free(c->held);
    free(c);
}

void
flow_consumer_join(struct flow_consumer *c, uint64_t peer)
{
    flow_peers_join(&c->peers, peer);
}

void
flow_consumer_leave(struct flow_consumer *c, uint64_t peer)
{
    flow_peers_leave(&c->peers, peer);
    c->calls = 0; // what it had is free: see that it is asked for
}

void
flow_consumer_begin(struct flow_consumer *c, const struct wire_place *at)
{
    REQUIRE(!c->n);
    flow_peers_begin(&c->peers, at);
    c->at = *at;
    c->waiting = 0;
}

void
flow_consumer_room(struct flow_consumer *c, size_t room)
{
    REQUIRE(room <= WIRE_CREDIT_MAX);
    c->room = room;
    if (room > c->most_room)
        c->most_room = room;
}

/* ---- what has come ----------------------------------------------------- */

int
flow_consumer_came(struct flow_consumer *c, uint64_t number)
{
    struct flow_peer *peer = flow_peers_find(&c->peers, number);

    if (!peer || !peer->credit)
        return 0;
    peer->credit--;
    peer->ended = 0;
    return 1;
}

/* The held item of a place, or n when there is none. */
static size_t
find(const struct flow_consumer *c, const struct wire_place *at)
{
    size_t i = 0;

    while (i < c->n && wire_place_cmp(&c->held[i].at, at))
        i++;
    return i;
}

int
flow_consumer_wants(const struct flow_consumer *c, const struct wire_place *at)
{
    return at->session == c->at.session && wire_place_cmp(at, &c->at) >= 0 &&
           find(c, at) == c->n;
}

/* Items that may be held: more than there is room for, as we may have to ask
 * for one while the room is used up. */
static size_t
most_held(const struct flow_consumer *c)
{
    return ROOMS_MAX * c->most_room + c->peers.n;
}

void *
flow_consumer_hold(struct flow_consumer *c, const struct wire_place *at,
                   void *item)
{
    const struct held new = {*at, item};
    size_t last = 0;
    void *farthest;

    REQUIRE(item && flow_consumer_wants(c, at));
    if (c->n < most_held(c) || !wire_place_cmp(at, &c->at)) {
        mem_grow(&c->held, &c->room_held, c->n + 1, sizeof *c->held);
        c->held[c->n++] = new;
        return NULL;
    }
    for (size_t i = 1; i < c->n; i++)
        if (wire_place_cmp(&c->held[i].at, &c->held[last].at) > 0)
            last = i;
    if (wire_place_cmp(at, &c->held[last].at) > 0)
        return item;
    farthest = c->held[last].item;
    c->held[last] = new;
    return farthest;
}

static void *
take_out(struct flow_consumer *c, size_t i)
{
    void *item = c->held[i].item;

    c->held[i] = c->held[--c->n];
    return item;
}

void *
flow_consumer_due(const struct flow_consumer *c)
{
    const size_t i = find(c, &c->at);

    return i < c->n ? c->held[i].item : NULL;
}

void *
flow_consumer_take(struct flow_consumer *c)
{
    const size_t i = find(c, &c->at);

    if (i == c->n)
        return NULL;
    if (c->waiting && c->calls)
        c->short_of = c->calls == 1;
    c->waiting = 0;
    return take_out(c, i);
}

void
flow_consumer_go(struct flow_consumer *c, const struct wire_place *at)
{
    c->at = *at;
}

void *
flow_consumer_stale(struct flow_consumer *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (wire_place_cmp(&c->held[i].at, &c->at) < 0)
            return take_out(c, i);
    return NULL;
}

void *
flow_consumer_drop(struct flow_consumer *c)
{
    return c->n ? take_out(c, c->n - 1) : NULL;
}

void *
flow_consumer_item(const struct flow_consumer *c, size_t i)
{
    REQUIRE(i < c->n);
    return c->held[i].item;
}

void
flow_consumer_end(struct flow_consumer *c, uint64_t number,
                  const struct wire_place *at)
{
    struct flow_peer *peer = flow_peers_find(&c->peers, number);

    if (peer && at->session == c->at.session)
        flow_peers_end(&c->peers, peer, at);
}

enum flow_ended
flow_consumer_ended(const struct flow_consumer *c)
{
    if (wire_place_cmp(&c->peers.end, &c->at) > 0)
        return FLOW_NONE_ENDED;
    return (enum flow_ended)flow_peers_ended(&c->peers);
}

/* ---- what is sent to whom ---------------------------------------------- */

/* Tells all peers that we wait; who gets a credit beyond the room, too. */
static void
call(struct flow_consumer *c, int first)
{
    size_t given = 0;

    for (size_t i = 0; i < c->peers.n; i++) {
        struct flow_peer *peer = &c->peers.peer[(c->turn + i) % c->peers.n];

        peer->gift = !peer->credit && (first || c->n < c->room || !given);
        peer->called = c->waits || peer->gift;
        given += peer->gift;
    }
    c->turn++;
}

void
flow_consumer_wait(struct flow_consumer *c, double now)
{
    int first;

    if (!c->waiting) {
        c->waiting = 1;
        c->since = now;
        c->calls = 0;
        c->pause = starving;
    }
    first = !c->calls;
    if (first ? !c->short_of && now - c->since < starving
              : now - c->called < c->pause)
        return;
    c->called = now;
    c->calls++;
    // too many are held: the farthest are dropped, so this must be seldom
    c->pause = c->n < most_held(c) ? starving : 2 * c->pause;
    call(c, first);
}

/* The credit that a peer is to have, by its share of the room. */
static size_t
share(const struct flow_consumer *c)
{
    const size_t left = c->n < c->room ? c->room - c->n : 0;

    return left && left < c->peers.n ? 1 : left / c->peers.n;
}

int
flow_consumer_turn(const struct flow_consumer *c, double now,
                   struct flow_ask *ask)
{
    for (size_t i = 0; i < c->peers.n; i++) {
        const struct flow_peer *peer = &c->peers.peer[i];
        const size_t gift = peer->called ? peer->gift : 0;
        size_t credit = share(c);

        credit = credit > peer->credit ? credit - peer->credit : 0;
        if (peer->blocked > now || (!credit && !peer->called))
            continue;
        *ask =
            (struct flow_ask){peer->number,
                              {c->at, (int64_t)(credit > gift ? credit : gift),
                               peer->called && c->waits}};
        return 1;
    }
    return 0;
}

void
flow_consumer_asked(struct flow_consumer *c, const struct flow_ask *ask,
                    int sent, double now)
{
    struct flow_peer *peer = flow_peers_find(&c->peers, ask->peer);

    REQUIRE(peer);
    peer->called = 0;
    if (sent)
        peer->credit += (size_t)ask->next.credit;
    else
        flow_peers_busy(peer, now);
}

/* ---- what is known ----------------------------------------------------- */

struct wire_place
flow_consumer_place(const struct flow_consumer *c)
{
    return c->at;
}

size_t
flow_consumer_held(const struct flow_consumer *c)
{
    return c->n;
}

size_t
flow_consumer_credit(const struct flow_consumer *c, uint64_t number)
{
    const struct flow_peer *peer = flow_peers_find(&c->peers, number);

    return peer ? peer->credit : 0;
}
