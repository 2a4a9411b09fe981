#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/producer.h"
#include "util/mem.h"

#include "producer_impl.h"

/* Seconds for which peers have to repeat an older snapshot, after FLOW_LAPSE,
 * before it is accepted; of the pause after a refused item, first and at most.
 */
static const double older_wait_s = 1, refusal_pause_s = 1,
                    refusal_pause_max_s = 32;

/* New snapshots of an older session from a peer: so many are not under way when
 * a trainer restarts. */
enum { FOREIGN = 5 };

void
flow_leases_release(struct flow_leases *leases)
{
    free(leases->lease);
    *leases = (struct flow_leases){0};
}

struct flow_lease *
flow_leases_add(struct flow_leases *leases, const struct wire_place *at)
{
    struct flow_lease *last;

    REQUIRE(!leases->n ||
            wire_place_cmp(&leases->lease[leases->n - 1].at, at) < 0);
    mem_grow(&leases->lease, &leases->room, leases->n + 1,
             sizeof *leases->lease);
    last = &leases->lease[leases->n++];
    *last = (struct flow_lease){.at = *at};
    return last;
}

size_t
flow_leases_before(const struct flow_leases *leases,
                   const struct wire_place *at)
{
    return flow_places_before(leases->lease, leases->n, sizeof *leases->lease,
                              at);
}

struct flow_lease *
flow_leases_find(const struct flow_leases *leases, const struct wire_place *at)
{
    const size_t i = flow_leases_before(leases, at);

    return i < leases->n && !wire_place_cmp(&leases->lease[i].at, at)
               ? &leases->lease[i]
               : NULL;
}

void
flow_leases_forget(struct flow_leases *leases, size_t n)
{
    REQUIRE(n <= leases->n);
    leases->n -= n;
    if (n && leases->n)
        memmove(leases->lease, leases->lease + n,
                leases->n * sizeof *leases->lease);
}

struct flow_lease *
flow_leases_free(const struct flow_leases *leases, size_t n, int highest)
{
    struct flow_lease *found = NULL;

    for (size_t i = 0; i < n && i < leases->n && (highest || !found); i++)
        if (leases->lease[i].state == FLOW_FREE)
            found = &leases->lease[i];
    return found;
}

struct flow_producer *
flow_producer_new(double lease)
{
    struct flow_producer *p = mem_array(1, sizeof *p);

    REQUIRE(lease > 0);
    p->lease_s = lease;
    flow_window_init(&p->newest);
    p->fresh.session = -1;
    return p;
}

void
flow_producer_free(struct flow_producer *p)
{
    if (!p)
        return;
    flow_peers_release(&p->peers);
    flow_leases_release(&p->leases);
    flow_window_release(&p->newest);
    free(p);
}

void
flow_producer_join(struct flow_producer *p, uint64_t peer)
{
    flow_peers_join(&p->peers, peer);
}

static void
revoke_lease(struct flow_producer *p, struct flow_lease *lease)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, lease->peer);

    if (peer)
        peer->out--;
    lease->state = FLOW_FREE;
}

size_t
flow_producer_revoke(struct flow_producer *p, uint64_t peer)
{
    size_t taken = 0;

    for (size_t i = 0; i < p->leases.n; i++) {
        struct flow_lease *lease = &p->leases.lease[i];

        if (lease->state != FLOW_LEASED || lease->peer != peer)
            continue;
        revoke_lease(p, lease);
        taken++;
    }
    return taken;
}

/* End a lease well: the peer delivered. */
static void
complete_lease(struct flow_producer *p, struct flow_lease *lease)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, lease->peer);

    if (lease->state == FLOW_LEASED && peer) {
        peer->out--;
        peer->late = peer->refused = 0;
        peer->suspended = 0;
    }
    lease->state = FLOW_DELIVERED;
}

size_t
flow_producer_leave(struct flow_producer *p, uint64_t peer)
{
    const size_t taken = flow_producer_revoke(p, peer);

    flow_peers_leave(&p->peers, peer);
    return taken;
}

void
flow_producer_on_refusal(struct flow_producer *p, uint64_t number,
                         const struct wire_place *at, double now)
{
    struct flow_lease *lease = flow_leases_find(&p->leases, at);
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    if (!lease || !peer || at->session != p->newest.at.session ||
        lease->state != FLOW_LEASED || lease->peer != number)
        return;
    revoke_lease(p, lease);
    peer->blocked = now + fmin(ldexp(refusal_pause_s, (int)peer->refused),
                               refusal_pause_max_s);
    peer->refused++;
}

static void
clear_book(struct flow_producer *p)
{
    for (size_t i = 0; i < p->peers.n; i++)
        p->peers.peer[i].out = 0;
    p->leases.n = 0;
    p->closed = 0;
    p->fresh = p->newest.at;
}

/* A new trainer: forget which peers were late or had ended. */
static void
reset_peers(struct flow_producer *p)
{
    for (size_t i = 0; i < p->peers.n; i++) {
        struct flow_peer *peer = &p->peers.peer[i];

        peer->late = 0;
        peer->suspended = 0;
        peer->ended = 0;
    }
    p->peers.end_left = 0;
}

/* End the leases of places that are trained or at the consumer; free the places
 * that it dropped. */
static void
update_leases(struct flow_producer *p)
{
    const size_t trained = flow_leases_before(&p->leases, &p->newest.at);

    for (size_t i = 0; i < p->leases.n; i++) {
        struct flow_lease *lease = &p->leases.lease[i];

        if (i < trained || flow_window_has(&p->newest, &lease->at))
            complete_lease(p, lease);
        else if (lease->state == FLOW_DELIVERED)
            lease->state = FLOW_FREE;
    }
    flow_leases_forget(&p->leases, trained);
    if (wire_place_cmp(&p->newest.at, &p->fresh) > 0)
        p->fresh = p->newest.at;
}

static enum flow_news_kind
adopt_snapshot(struct flow_producer *p, const struct wire_want *next,
               double now)
{
    const int newer = flow_window_order(&p->newest, next) > 0,
              new_session = next->at.session != p->newest.at.session,
              order = wire_place_cmp(&next->at, &p->newest.at);

    flow_window_set(&p->newest, next);
    p->confirmed = now;
    p->older = 0;
    if (newer && !new_session && order == 0) {
        update_leases(p);
        return FLOW_NOTHING;
    }
    p->moved = now;
    if (newer && !new_session && order > 0) {
        update_leases(p);
        p->peers.end_left = 0;
        return FLOW_PROGRESS;
    }
    clear_book(p);
    if (new_session)
        reset_peers(p);
    return newer && new_session ? FLOW_NEW_SESSION : FLOW_REWOUND;
}

/* A peer reports that the run is over, or did before it left. */
static int
any_ended(const struct flow_producer *p)
{
    int any = p->peers.end_left;

    for (size_t i = 0; i < p->peers.n; i++)
        any |= p->peers.peer[i].ended;
    return any;
}

/* Whether to accept an older snapshot: no peer has sent the newest for so long
 * that this is no accident of ours.  After the end of a run no peer sends the
 * newest, and a peer that lost the trainer earlier repeats the same older one;
 * a trainer that continues makes new ones. */
static int
has_lapsed(struct flow_producer *p, int is_new, double now)
{
    if ((any_ended(p) && !is_new) || now - p->confirmed < FLOW_LAPSE)
        return 0;
    if (!p->older)
        p->older = now;
    return now - p->older >= older_wait_s;
}

enum flow_news_kind
flow_producer_on_snapshot(struct flow_producer *p, uint64_t number,
                          const struct wire_want *next, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);
    const int order = flow_window_order(&p->newest, next);
    int is_new;

    if (!peer)
        return FLOW_NOTHING;
    is_new = peer->session >= 0 &&
             (peer->session != next->at.session || peer->serial < next->serial);
    if (order > 0 && is_new)
        p->received = now;
    peer->session = next->at.session;
    peer->serial = next->serial;
    peer->room = (size_t)(next->room ? next->room : next->window);
    peer->wants = 1;
    if (order > 0 || (order < 0 && has_lapsed(p, is_new, now)))
        return adopt_snapshot(p, next, now);
    if (!order) {
        p->confirmed = now;
        p->older = 0;
    }
    if (next->at.session >= p->newest.at.session)
        peer->foreign = 0;
    else if (is_new && ++peer->foreign == FOREIGN)
        return FLOW_REPORT;
    return FLOW_NOTHING;
}

void
flow_producer_on_end(struct flow_producer *p, uint64_t number,
                     const struct wire_place *at, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    if (!peer || at->session != p->newest.at.session)
        return;
    if (!peer->ended)
        p->moved = now;
    peer->ended = 1;
}

int
flow_producer_short(const struct flow_producer *p)
{
    return p->newest.at.session >= 0 && !p->closed &&
           p->leases.n < (size_t)p->newest.window;
}

void
flow_producer_add(struct flow_producer *p, const struct wire_place *at,
                  const struct wire_place *after)
{
    struct flow_lease *lease = flow_leases_add(&p->leases, at);

    REQUIRE(wire_place_cmp(at, &p->newest.at) >= 0);
    if (flow_window_has(&p->newest, at))
        lease->state = FLOW_DELIVERED;
    p->fresh = *after;
}

void
flow_producer_close(struct flow_producer *p, const struct wire_place *end)
{
    if (wire_place_cmp(end, &p->fresh) > 0)
        p->fresh = *end;
    p->closed = 1;
}

/* At least one peer reports that the consumer is after the end of the plan, and
 * there was time to correct that. */
static int
all_trained(const struct flow_producer *p, double now)
{
    return p->closed && wire_place_cmp(&p->newest.at, &p->fresh) >= 0 &&
           now - p->moved >= FLOW_TRAINED;
}

int
flow_producer_over(const struct flow_producer *p, double now)
{
    int all = 1;

    if (all_trained(p, now))
        return 1;
    for (size_t i = 0; i < p->peers.n; i++)
        all &= p->peers.peer[i].ended;
    return any_ended(p) && (all || now - p->moved >= FLOW_QUIET);
}

struct wire_place
flow_producer_place(const struct flow_producer *p)
{
    return p->newest.at;
}

const char *
flow_producer_plan(const struct flow_producer *p, const char **order)
{
    *order = p->newest.order;
    return p->newest.plan;
}

size_t
flow_producer_window(const struct flow_producer *p)
{
    return (size_t)p->newest.window;
}

struct wire_place
flow_producer_fresh(const struct flow_producer *p)
{
    return p->fresh;
}

uint64_t
flow_producer_holder(const struct flow_producer *p, const struct wire_place *at)
{
    const struct flow_lease *lease = flow_leases_find(&p->leases, at);

    return lease ? lease->peer : 0;
}

uint64_t
flow_producer_missing(const struct flow_producer *p, double now)
{
    const struct flow_lease *lease =
        flow_leases_find(&p->leases, &p->newest.at);

    return lease && lease->state == FLOW_LEASED &&
                   now - p->received < FLOW_LAPSE
               ? lease->peer
               : 0;
}

size_t
flow_producer_out(const struct flow_producer *p)
{
    size_t out = 0;

    for (size_t i = 0; i < p->peers.n; i++)
        out += p->peers.peer[i].out;
    return out;
}
