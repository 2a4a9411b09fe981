#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/producer.h"
#include "util/mem.h"

#include "peers.h"
#include "window.h"

/* older_wait_s: peers must repeat an older snapshot for so long after
 * FLOW_LAPSE.  A peer gets no item for refusal_pause_s after it refused one,
 * and for twice as long after each further one. */
static const double older_wait_s = 1, refusal_pause_s = 1,
                    refusal_pause_max_s = 32;

/* A peer that sends so many new snapshots of an older session is reported:
 * fewer can be in transit when a trainer restarts. */
enum { FOREIGN = 5 };

/* notify_every_s: between two notices that the plan ends.  recheck_s: a lease
 * is overdue if a snapshot comes so long after its end: it may be delayed. */
static const double notify_every_s = 1, recheck_s = 0.1;

/* First suspension of a peer, in leases; how often it is doubled at most. */
enum { SUSPENSION = 4, DOUBLED_MAX = 8 };

enum lease_state {
    FREE,     /* no peer has it */
    LEASED,   /* a peer has it */
    DELIVERED /* the consumer has it */
};

struct lease {
    struct wire_place at;
    enum lease_state state;
    uint64_t peer; /* peer that has it, or had it last; 0: none */
    double since;  /* when the lease began */
    double over;   /* when its end was first noticed; 0: not yet */
};

struct flow_producer {
    double lease_s; /* duration of a lease */
    struct flow_peers peers;
    size_t n, room;
    struct lease *lease; /* [n] in rising order */
    struct wire_want newest;
    double received;  /* last new snapshot that was also new from its peer */
    double confirmed; /* when a peer last sent the newest snapshot */
    double older;     /* since when only older ones are sent; 0: they are not */
    double moved;     /* last change of the place, or first report of the end */
    struct wire_place next_new; /* first place after the leases */
    int closed;                 /* the plan ends there */
    uint64_t sent;              /* items sent so far */
};

/* Returns the lease of a place, or NULL. */
static struct lease *
find_lease(const struct flow_producer *p, const struct wire_place *at)
{
    const size_t i = flow_places_before(p->lease, p->n, sizeof *p->lease, at);

    return i < p->n && !wire_place_cmp(&p->lease[i].at, at) ? &p->lease[i]
                                                            : NULL;
}

/* The lowest free place of the window, or with `highest` the highest; or
 * NULL. */
static struct lease *
find_free(const struct flow_producer *p, int highest)
{
    const size_t window =
        p->newest.at.session < 0 ? 0 : (size_t)p->newest.window;
    struct lease *found = NULL;

    for (size_t i = 0; i < window && i < p->n && (highest || !found); i++)
        if (p->lease[i].state == FREE)
            found = &p->lease[i];
    return found;
}

struct flow_producer *
flow_producer_new(double lease)
{
    struct flow_producer *p = mem_array(1, sizeof *p);

    REQUIRE(lease > 0);
    p->lease_s = lease;
    flow_snapshot_init(&p->newest);
    p->next_new.session = -1;
    return p;
}

void
flow_producer_free(struct flow_producer *p)
{
    if (!p)
        return;
    flow_peers_release(&p->peers);
    free(p->lease);
    flow_snapshot_release(&p->newest);
    free(p);
}

void
flow_producer_join(struct flow_producer *p, uint64_t peer)
{
    flow_peers_join(&p->peers, peer);
}

static void
revoke_lease(struct flow_producer *p, struct lease *lease)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, lease->peer);

    if (peer)
        peer->out--;
    lease->state = FREE;
}

/* Revokes all leases of a peer; returns how many. */
static size_t
revoke_leases(struct flow_producer *p, uint64_t peer)
{
    size_t taken = 0;

    for (size_t i = 0; i < p->n; i++) {
        struct lease *lease = &p->lease[i];

        if (lease->state != LEASED || lease->peer != peer)
            continue;
        revoke_lease(p, lease);
        taken++;
    }
    return taken;
}

/* Ends a lease whose item was delivered. */
static void
complete_lease(struct flow_producer *p, struct lease *lease)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, lease->peer);

    if (lease->state == LEASED && peer) {
        peer->out--;
        peer->late = peer->refused = 0;
        peer->suspended = 0;
    }
    lease->state = DELIVERED;
}

size_t
flow_producer_leave(struct flow_producer *p, uint64_t peer)
{
    const size_t taken = revoke_leases(p, peer);

    flow_peers_leave(&p->peers, peer);
    return taken;
}

void
flow_producer_on_refusal(struct flow_producer *p, uint64_t number,
                         const struct wire_place *at, double now)
{
    struct lease *lease = find_lease(p, at);
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    if (!lease || !peer || at->session != p->newest.at.session ||
        lease->state != LEASED || lease->peer != number)
        return;
    revoke_lease(p, lease);
    peer->blocked = now + fmin(ldexp(refusal_pause_s, (int)peer->refused),
                               refusal_pause_max_s);
    peer->refused++;
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
    const size_t trained =
        flow_places_before(p->lease, p->n, sizeof *p->lease, &p->newest.at);

    for (size_t i = 0; i < p->n; i++) {
        struct lease *lease = &p->lease[i];

        if (i < trained || flow_snapshot_has(&p->newest, &lease->at))
            complete_lease(p, lease);
        else if (lease->state == DELIVERED)
            lease->state = FREE;
    }
    p->n -= trained;
    if (trained && p->n)
        memmove(p->lease, p->lease + trained, p->n * sizeof *p->lease);
    if (wire_place_cmp(&p->newest.at, &p->next_new) > 0)
        p->next_new = p->newest.at;
}

static enum flow_event_kind
adopt_snapshot(struct flow_producer *p, const struct wire_want *want,
               double now)
{
    const int newer = flow_snapshot_order(&p->newest, want) > 0,
              new_session = want->at.session != p->newest.at.session,
              order = wire_place_cmp(&want->at, &p->newest.at);

    flow_snapshot_set(&p->newest, want);
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
    for (size_t i = 0; i < p->peers.n; i++)
        p->peers.peer[i].out = 0;
    p->n = 0;
    p->closed = 0;
    p->next_new = p->newest.at;
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
 * that a pause of this process is not the cause.  After the end of a run no
 * peer sends the newest, and a peer that lost the trainer earlier repeats the
 * same older one; a trainer that continues makes new ones. */
static int
has_lapsed(struct flow_producer *p, int is_new, double now)
{
    if ((any_ended(p) && !is_new) || now - p->confirmed < FLOW_LAPSE)
        return 0;
    if (!p->older)
        p->older = now;
    return now - p->older >= older_wait_s;
}

enum flow_event_kind
flow_producer_on_snapshot(struct flow_producer *p, uint64_t number,
                          const struct wire_want *want, double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);
    const int order = flow_snapshot_order(&p->newest, want);
    int is_new;

    if (!peer)
        return FLOW_NOTHING;
    is_new = peer->session >= 0 &&
             (peer->session != want->at.session || peer->serial < want->serial);
    if (order > 0 && is_new)
        p->received = now;
    peer->session = want->at.session;
    peer->serial = want->serial;
    peer->room = (size_t)(want->room < 0 ? want->window : want->room);
    if (!peer->room)
        revoke_leases(p, number);
    peer->wants = 1;
    if (order > 0 || (order < 0 && has_lapsed(p, is_new, now)))
        return adopt_snapshot(p, want, now);
    if (!order) {
        p->confirmed = now;
        p->older = 0;
    }
    if (want->at.session >= p->newest.at.session)
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
flow_producer_needs_place(const struct flow_producer *p)
{
    return p->newest.at.session >= 0 && !p->closed &&
           p->n < (size_t)p->newest.window;
}

void
flow_producer_add(struct flow_producer *p, const struct wire_place *at,
                  const struct wire_place *after)
{
    REQUIRE(wire_place_cmp(at, &p->newest.at) >= 0 &&
            (!p->n || wire_place_cmp(&p->lease[p->n - 1].at, at) < 0));
    mem_grow(&p->lease, &p->room, p->n + 1, sizeof *p->lease);
    p->lease[p->n++] = (struct lease){
        .at = *at,
        .state = flow_snapshot_has(&p->newest, at) ? DELIVERED : FREE};
    p->next_new = *after;
}

void
flow_producer_close(struct flow_producer *p, const struct wire_place *end)
{
    if (wire_place_cmp(end, &p->next_new) > 0)
        p->next_new = *end;
    p->closed = 1;
}

/* At least one peer reports that the consumer is after the end of the plan, and
 * there was time to correct that. */
static int
all_trained(const struct flow_producer *p, double now)
{
    return p->closed && wire_place_cmp(&p->newest.at, &p->next_new) >= 0 &&
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

const struct wire_want *
flow_producer_newest(const struct flow_producer *p)
{
    return &p->newest;
}

struct wire_place
flow_producer_fresh(const struct flow_producer *p)
{
    return p->next_new;
}

uint64_t
flow_producer_holder(const struct flow_producer *p, const struct wire_place *at)
{
    const struct lease *lease = find_lease(p, at);

    return lease ? lease->peer : 0;
}

uint64_t
flow_producer_awaited_peer(const struct flow_producer *p, double now)
{
    const struct lease *lease = find_lease(p, &p->newest.at);

    return lease && lease->state == LEASED && now - p->received < FLOW_LAPSE
               ? lease->peer
               : 0;
}

size_t
flow_producer_leases(const struct flow_producer *p)
{
    size_t out = 0;

    for (size_t i = 0; i < p->peers.n; i++)
        out += p->peers.peer[i].out;
    return out;
}

/* ---- which peer receives what ------------------------------------------- */

/* Whether a peer is in this session and accepts items at all. */
static int
is_active(const struct flow_producer *p, const struct flow_peer *peer)
{
    return peer->session == p->newest.at.session && peer->room;
}

/* Whether all active peers are late: then lateness does not count. */
static int
all_late(const struct flow_producer *p)
{
    size_t i = 0;

    while (i < p->peers.n &&
           (p->peers.peer[i].late || !is_active(p, &p->peers.peer[i])))
        i++;
    return i == p->peers.n;
}

/* How many more items a peer may receive now. */
static size_t
count_free(const struct flow_producer *p, const struct flow_peer *peer, int any,
           double now)
{
    const size_t room = peer->late && !any ? 1 : peer->room;

    if (!is_active(p, peer) || peer->blocked > now || peer->out >= room ||
        (!any && peer->suspended > now))
        return 0;
    return room - peer->out;
}

/*
 * The peer to receive the next item, or NULL: the least often late one, then
 * the one with the most free room, then the least recently served.  When all
 * were late, room alone must not decide: a peer that never delivers may have
 * the most.
 */
static const struct flow_peer *
choose_peer(const struct flow_producer *p, int any, double now)
{
    const struct flow_peer *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];
        const size_t n = count_free(p, peer, any, now);
        const int worse = best && peer->late > best->late,
                  better = best && peer->late < best->late;

        if (!n || worse)
            continue;
        if (!best || better || n > most ||
            (n == most && peer->served < best->served)) {
            best = peer;
            most = n;
        }
    }
    return best;
}

int
flow_producer_next_item(const struct flow_producer *p, double now,
                        struct flow_send_item *turn)
{
    const struct lease *lease = find_free(p, 0);
    const struct flow_peer *peer;
    int any;

    if (!lease)
        return 0;
    any = all_late(p);
    peer = choose_peer(p, any, now);
    if (!peer)
        return 0;
    if (peer->late && !any)
        lease = find_free(p, 1);
    *turn = (struct flow_send_item){peer->number, lease->at};
    turn->at.session = p->newest.at.session;
    return 1;
}

void
flow_producer_mark_sent(struct flow_producer *p,
                        const struct flow_send_item *turn, int sent, double now)
{
    struct lease *lease = find_lease(p, &turn->at);
    struct flow_peer *peer = flow_peers_find(&p->peers, turn->peer);

    REQUIRE(lease && lease->state == FREE && peer);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->served = ++p->sent;
    peer->out++;
    lease->state = LEASED;
    lease->peer = peer->number;
    lease->since = now;
    lease->over = 0;
}

/* The lowest lease that has ended, if a later snapshot still lacks its item. */
static const struct lease *
find_overdue(struct flow_producer *p, double now)
{
    const struct lease *lowest = NULL;

    for (size_t i = 0; i < p->n; i++) {
        struct lease *lease = &p->lease[i];

        if (lease->state != LEASED || now < lease->since + p->lease_s)
            continue;
        if (!lease->over)
            lease->over = now;
        if (!lowest && p->received > lease->over + recheck_s)
            lowest = lease;
    }
    return lowest;
}

int
flow_producer_late(struct flow_producer *p, double now, struct flow_late *late)
{
    const struct lease *lease = find_overdue(p, now);
    struct flow_peer *peer;

    if (!lease)
        return 0;
    peer = flow_peers_find(&p->peers, lease->peer);
    REQUIRE(peer);
    late->peer = peer->number;
    late->at = lease->at;
    late->lease = p->lease_s;
    late->aside = SUSPENSION * ldexp(p->lease_s, (int)peer->late);
    late->taken = revoke_leases(p, peer->number);
    peer->suspended = now + late->aside;
    if (peer->late <= DOUBLED_MAX)
        peer->late++;
    return 1;
}

double
flow_producer_due(const struct flow_producer *p, double now)
{
    double due = 1e9;

    for (size_t i = 0; i < p->n; i++) {
        const struct lease *lease = &p->lease[i];
        const double end = lease->since + p->lease_s;

        if (lease->state == LEASED && end > now)
            due = fmin(due, end - now);
    }
    if (!find_free(p, 0))
        return due;
    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];

        if (peer->blocked > now)
            due = fmin(due, peer->blocked - now);
        if (peer->suspended > now)
            due = fmin(due, peer->suspended - now);
    }
    return due;
}

uint64_t
flow_producer_next_unnotified(const struct flow_producer *p, double now)
{
    if (!p->closed || p->newest.at.session < 0 ||
        p->n >= (size_t)p->newest.window)
        return 0;
    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];

        if (peer->wants && is_active(p, peer) && peer->blocked <= now &&
            now - peer->notified >= notify_every_s)
            return peer->number;
    }
    return 0;
}

void
flow_producer_mark_notified(struct flow_producer *p, uint64_t number, int sent,
                            double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    REQUIRE(peer);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->notified = now;
    peer->wants = 0;
}
