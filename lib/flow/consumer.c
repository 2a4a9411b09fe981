#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/consumer.h"
#include "util/mem.h"

#include "peers.h"
#include "window.h"

/* Seconds between two snapshots while we wait, and until a snapshot is sent
 * again; for which changes of the held items are collected. */
static const double resend_s = 1, gather_s = 0.01;

struct held {
    struct wire_place at;
    void *item;
};

struct flow_consumer {
    struct flow_peers peers;
    struct wire_place at;
    size_t window;
    size_t n, n_room;
    struct held *held; /* [n] in rising order */
    int taken;         /* the item of our place is in training */

    struct wire_want newest; /* the snapshot, */
    int64_t serial;          /* its serial */
    double snapshot_at;      /* when it was made */
    int urgent;              /* make a new one at once */
    int changed;             /* make one soon: the held items changed */
    double since;            /* when they did; < 0: time not known yet */
};

struct flow_consumer *
flow_consumer_new(const struct wire_place *at, size_t window, int64_t serial)
{
    struct flow_consumer *c = mem_array(1, sizeof *c);

    REQUIRE(window && window <= WIRE_WINDOW_MAX && serial > 0);
    c->at = *at;
    c->window = window;
    c->serial = serial - 1;
    c->urgent = 1;
    flow_snapshot_init(&c->newest);
    return c;
}

void
flow_consumer_free(struct flow_consumer *c)
{
    if (!c)
        return;
    REQUIRE(!c->n);
    flow_peers_release(&c->peers);
    flow_snapshot_release(&c->newest);
    mem_free(c->held, c);
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
}

void
flow_consumer_begin(struct flow_consumer *c, const struct wire_place *at)
{
    REQUIRE(!c->n);
    for (size_t i = 0; i < c->peers.n; i++)
        c->peers.peer[i].ended = 0;
    c->peers.end_left = 0;
    c->at = *at;
    c->taken = 0;
    c->urgent = 1;
}

void
flow_consumer_resize(struct flow_consumer *c, size_t window)
{
    REQUIRE(window && window <= WIRE_WINDOW_MAX);
    c->urgent |= window != c->window;
    c->window = window;
}

static size_t
count_before(const struct flow_consumer *c, const struct wire_place *at)
{
    return flow_places_before(c->held, c->n, sizeof *c->held, at);
}

void *
flow_consumer_find(const struct flow_consumer *c, const struct wire_place *at)
{
    const size_t i = count_before(c, at);

    return i < c->n && !wire_place_cmp(&c->held[i].at, at) ? c->held[i].item
                                                           : NULL;
}

int
flow_consumer_wants(const struct flow_consumer *c, const struct wire_place *at)
{
    return at->session == c->at.session &&
           wire_place_cmp(at, &c->at) >= c->taken && !flow_consumer_find(c, at);
}

static void
note_change(struct flow_consumer *c)
{
    if (!c->changed)
        c->since = -1;
    c->changed = 1;
}

static void *
take_out(struct flow_consumer *c, size_t i)
{
    void *item = c->held[i].item;

    c->n--;
    memmove(c->held + i, c->held + i + 1, (c->n - i) * sizeof *c->held);
    note_change(c);
    return item;
}

/* Peers that reported that the plan ends before this item were wrong. */
static void
cancel_ends(struct flow_consumer *c, const struct wire_place *at)
{
    for (size_t i = 0; i < c->peers.n; i++) {
        struct flow_peer *peer = &c->peers.peer[i];

        if (peer->ended && wire_place_cmp(at, &peer->end) >= 0)
            peer->ended = 0;
    }
    c->peers.end_left = 0;
}

void *
flow_consumer_hold(struct flow_consumer *c, const struct wire_place *at,
                   void *item)
{
    const size_t i = count_before(c, at);
    void *farthest = NULL;

    REQUIRE(item && flow_consumer_wants(c, at));
    cancel_ends(c, at);
    if (c->n + (size_t)c->taken >= c->window) {
        if (i == c->n)
            return item;
        farthest = take_out(c, c->n - 1);
    }
    mem_grow(&c->held, &c->n_room, c->n + 1, sizeof *c->held);
    memmove(c->held + i + 1, c->held + i, (c->n - i) * sizeof *c->held);
    c->held[i] = (struct held){*at, item};
    c->n++;
    note_change(c);
    return farthest;
}

void *
flow_consumer_take(struct flow_consumer *c)
{
    const int was = c->changed;
    void *item;

    if (c->taken || !flow_consumer_find(c, &c->at))
        return NULL;
    item = take_out(c, count_before(c, &c->at));
    c->taken = 1;
    c->changed = was; // it still counts as held
    c->urgent |= was; // the caller may be busy with it for long
    return item;
}

void
flow_consumer_set_place(struct flow_consumer *c, const struct wire_place *at)
{
    c->urgent |= c->taken || wire_place_cmp(at, &c->at);
    c->taken = 0;
    c->at = *at;
}

void
flow_consumer_set_plan(struct flow_consumer *c, const char *plan,
                       const char *order)
{
    struct wire_want *w = &c->newest;

    c->urgent |= strcmp(plan, w->plan) || strcmp(order, w->order);
    snprintf(w->plan, sizeof w->plan, "%s", plan);
    snprintf(w->order, sizeof w->order, "%s", order);
}

void *
flow_consumer_stale(struct flow_consumer *c)
{
    return c->n && wire_place_cmp(&c->held[0].at, &c->at) < 0 ? take_out(c, 0)
                                                              : NULL;
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
flow_consumer_on_end(struct flow_consumer *c, uint64_t number,
                     const struct wire_place *at)
{
    struct flow_peer *peer = flow_peers_find(&c->peers, number);

    if (!peer || at->session != c->at.session)
        return;
    peer->ended = 1;
    peer->end = *at;
}

enum flow_ended
flow_consumer_ended(const struct flow_consumer *c)
{
    int some = c->peers.end_left && wire_place_cmp(&c->peers.end, &c->at) <= 0,
        all = 1;

    for (size_t i = 0; i < c->peers.n; i++) {
        const struct flow_peer *peer = &c->peers.peer[i];
        const int ended =
            peer->ended && wire_place_cmp(&peer->end, &c->at) <= 0;

        some |= ended;
        all &= ended;
    }
    return !some ? FLOW_NONE_ENDED : all ? FLOW_ALL_ENDED : FLOW_SOME_ENDED;
}

void
flow_consumer_mark_waiting(struct flow_consumer *c, double now)
{
    c->urgent |= now - c->snapshot_at >= resend_s;
}

static void
add_place(int64_t *have, size_t *n, const struct wire_place *at)
{
    have[2 * *n] = at->epoch;
    have[2 * (*n)++ + 1] = at->step;
}

static void
make_snapshot(struct flow_consumer *c, double now)
{
    int64_t *have = mem_array(2 * c->window, sizeof *have);
    struct wire_want want = c->newest;

    want.at = c->at;
    want.serial = ++c->serial;
    want.window = (int64_t)c->window;
    want.have = have;
    want.n_have = 0;
    if (c->taken)
        add_place(have, &want.n_have, &c->at);
    for (size_t i = count_before(c, &c->at);
         i < c->n && want.n_have < c->window; i++)
        add_place(have, &want.n_have, &c->held[i].at);
    flow_snapshot_set(&c->newest, &want);
    free(have);
    c->snapshot_at = now;
    c->urgent = c->changed = 0;
}

int
flow_consumer_next_snapshot(struct flow_consumer *c, double now,
                            struct flow_send_snapshot *ask)
{
    if (c->at.session < 0)
        return 0;
    if (c->changed && c->since < 0)
        c->since = now;
    if (c->urgent || (c->changed && now - c->since >= gather_s))
        make_snapshot(c, now);
    for (size_t i = 0; i < c->peers.n; i++) {
        const struct flow_peer *peer = &c->peers.peer[i];

        if (peer->blocked > now || (peer->serial == c->newest.serial &&
                                    now - peer->notified < resend_s))
            continue;
        *ask = (struct flow_send_snapshot){peer->number, c->newest};
        return 1;
    }
    return 0;
}

void
flow_consumer_mark_sent(struct flow_consumer *c,
                        const struct flow_send_snapshot *ask, int sent,
                        double now)
{
    struct flow_peer *peer = flow_peers_find(&c->peers, ask->peer);

    REQUIRE(peer);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->serial = ask->want.serial;
    peer->notified = now;
}

double
flow_consumer_due(const struct flow_consumer *c, double now)
{
    double due = c->changed ? fmax(c->since + gather_s - now, 0) : resend_s;

    if (c->at.session < 0)
        return resend_s;
    for (size_t i = 0; i < c->peers.n; i++) {
        const struct flow_peer *peer = &c->peers.peer[i];

        if (peer->blocked > now)
            due = fmin(due, peer->blocked - now);
    }
    return c->urgent ? 0 : due;
}

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
