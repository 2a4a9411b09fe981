#include <stdlib.h>

#include "flow/producer.h"
#include "util/mem.h"

#include "lease.h"
#include "peers.h"

/* Seconds after which a peer that still names an earlier place is right. */
static const double insists = 1;

struct flow_producer {
    struct flow_peers peers;
    struct flow_leases *leases;
    struct wire_place at, fresh; /* session -1: not known yet */
    double moved;             /* when `at` moved on last, or end came first */
    struct wire_place behind; /* that the trainer is said to wait for */
    double behind_since;      /* so; 0: it is not */
    uint64_t turn;
};

struct flow_producer *
flow_producer_new(double lease)
{
    struct flow_producer *p = mem_array(1, sizeof *p);

    p->leases = flow_leases_new(lease);
    p->at.session = p->fresh.session = -1;
    return p;
}

void
flow_producer_free(struct flow_producer *p)
{
    if (!p)
        return;
    flow_leases_free(p->leases);
    flow_peers_release(&p->peers);
    free(p);
}

void
flow_producer_join(struct flow_producer *p, uint64_t peer)
{
    flow_peers_join(&p->peers, peer);
}

size_t
flow_producer_leave(struct flow_producer *p, uint64_t peer)
{
    flow_peers_leave(&p->peers, peer);
    return flow_leases_drop(p->leases, peer);
}

/* ---- what peers say ---------------------------------------------------- */

/* A trainer was started: no credit, no lease and no end of before counts. */
static void
begin(struct flow_producer *p, const struct wire_place *at)
{
    flow_peers_begin(&p->peers, at);
    flow_leases_clear(p->leases);
    p->behind_since = 0;
    p->at = p->fresh = *at;
}

/* The run may have come to a later place. */
static enum flow_said
move_on(struct flow_producer *p, const struct wire_place *at, double now)
{
    if (wire_place_cmp(at, &p->at) <= 0)
        return FLOW_NOTHING;
    p->at = *at;
    p->moved = now;
    p->behind_since = 0;
    p->peers.end_left = 0;
    flow_leases_done(p->leases, at);
    if (wire_place_cmp(at, &p->fresh) > 0)
        p->fresh = *at;
    return FLOW_PASSED;
}

/* The trainer waits for a place that is not after ours. */
static enum flow_said
wait_for(struct flow_producer *p, const struct wire_place *at, double now)
{
    const int back = wire_place_cmp(at, &p->at) < 0;

    if (back) {
        if (wire_place_cmp(at, &p->behind) || !p->behind_since) {
            p->behind = *at;
            p->behind_since = now;
        }
        if (now - p->behind_since < insists)
            return FLOW_NOTHING;
        p->behind_since = 0;
        flow_leases_clear(p->leases);
        p->at = p->fresh = *at;
    }
    flow_leases_wanted(p->leases, at);
    return back ? FLOW_BACK : FLOW_WAITED;
}

static void
add_credit(struct flow_peer *peer, size_t credit)
{
    if (!credit)
        return;
    peer->told = peer->ended = 0;
    peer->credit += credit;
    if (peer->credit > WIRE_CREDIT_MAX)
        peer->credit = WIRE_CREDIT_MAX;
}

enum flow_said
flow_producer_next(struct flow_producer *p, uint64_t number,
                   const struct wire_next *next, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);
    enum flow_said said = FLOW_MOVED;

    if (!peer || next->at.session < p->at.session)
        return FLOW_NOTHING;
    if (next->at.session > p->at.session)
        begin(p, &next->at);
    else
        said = move_on(p, &next->at, now);
    add_credit(peer, (size_t)next->credit);
    if (said == FLOW_NOTHING && next->waits)
        return wait_for(p, &next->at, now);
    if (next->waits)
        flow_leases_wanted(p->leases, &next->at);
    return said;
}

enum flow_said
flow_producer_done(struct flow_producer *p, const struct wire_place *at,
                   double now)
{
    return at->session == p->at.session ? move_on(p, at, now) : FLOW_NOTHING;
}

void
flow_producer_end(struct flow_producer *p, uint64_t number,
                  const struct wire_place *at, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    if (!peer || at->session != p->at.session)
        return;
    if (!peer->ended)
        p->moved = now;
    flow_peers_end(&p->peers, peer, at);
}

/* ---- what is sent to whom ---------------------------------------------- */

/* Whether all peers are set aside: then none is passed over for it. */
static int
all_aside(const struct flow_producer *p, double now)
{
    size_t i = 0;

    while (i < p->peers.n &&
           flow_leases_aside(p->leases, p->peers.peer[i].number, now))
        i++;
    return i == p->peers.n;
}

/* Who has credit and was served longest ago, or NULL. */
static const struct flow_peer *
asker(const struct flow_producer *p, double now)
{
    const int any = all_aside(p, now);
    const struct flow_peer *best = NULL;

    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];

        if (peer->credit && peer->blocked <= now &&
            (any || !flow_leases_aside(p->leases, peer->number, now)) &&
            (!best || peer->served < best->served))
            best = peer;
    }
    return best;
}

int
flow_producer_turn(const struct flow_producer *p, double now,
                   struct flow_turn *turn)
{
    const struct flow_peer *peer = asker(p, now);

    if (!peer)
        return 0;
    turn->peer = peer->number;
    turn->again = flow_leases_next(p->leases, &turn->at);
    if (!turn->again)
        turn->at = p->fresh;
    turn->at.session = p->at.session;
    return 1;
}

void
flow_producer_gave(struct flow_producer *p, const struct flow_turn *turn,
                   int sent, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, turn->peer);

    REQUIRE(peer && peer->credit);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->credit--;
    peer->served = ++p->turn;
    flow_leases_give(p->leases, &turn->at, turn->peer, now);
}

void
flow_producer_go(struct flow_producer *p, const struct wire_place *fresh)
{
    p->fresh = *fresh;
}

int
flow_producer_late(struct flow_producer *p, double now, struct flow_late *late)
{
    return flow_leases_overdue(p->leases, now, late);
}

double
flow_producer_due(const struct flow_producer *p, double now)
{
    return flow_leases_due(p->leases, now);
}

uint64_t
flow_producer_untold(const struct flow_producer *p, double now)
{
    for (size_t i = 0; i < p->peers.n; i++)
        if (!p->peers.peer[i].told && p->peers.peer[i].blocked <= now)
            return p->peers.peer[i].number;
    return 0;
}

void
flow_producer_told(struct flow_producer *p, uint64_t number, int sent,
                   double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    REQUIRE(peer);
    peer->told = sent;
    if (!sent)
        flow_peers_busy(peer, now);
}

/* ---- what is known ----------------------------------------------------- */

int
flow_producer_over(const struct flow_producer *p, double now)
{
    const int ended = flow_peers_ended(&p->peers);

    return ended == 2 || (ended && now - p->moved >= FLOW_QUIET);
}

struct wire_place
flow_producer_place(const struct flow_producer *p)
{
    return p->at;
}

struct wire_place
flow_producer_fresh(const struct flow_producer *p)
{
    return p->fresh;
}

uint64_t
flow_producer_holder(const struct flow_producer *p, const struct wire_place *at)
{
    return flow_leases_holder(p->leases, at);
}

size_t
flow_producer_out(const struct flow_producer *p)
{
    return flow_leases_size(p->leases);
}

size_t
flow_producer_credit(const struct flow_producer *p)
{
    size_t credit = 0;

    for (size_t i = 0; i < p->peers.n; i++)
        credit += p->peers.peer[i].credit;
    return credit;
}
