#include <math.h>

#include "producer_impl.h"

/* Seconds between two notices that the plan ends; after the end of a lease was
 * noticed, before a snapshot counts: earlier ones may be old, and arrive all at
 * once after we were stopped. */
static const double notify_every_s = 1, recheck_s = 0.1;

/* First suspension of a peer, in leases; how often it is doubled at most. */
enum { ASIDE = 4, DOUBLED_MAX = 8 };

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
    const size_t window =
        p->newest.at.session < 0 ? 0 : (size_t)p->newest.window;
    const struct flow_lease *lease = flow_leases_free(&p->leases, window, 0);
    const struct flow_peer *peer;
    int any;

    if (!lease)
        return 0;
    any = all_late(p);
    peer = choose_peer(p, any, now);
    if (!peer)
        return 0;
    if (peer->late && !any)
        lease = flow_leases_free(&p->leases, window, 1);
    *turn = (struct flow_send_item){peer->number, lease->at};
    turn->at.session = p->newest.at.session;
    return 1;
}

void
flow_producer_mark_sent(struct flow_producer *p,
                        const struct flow_send_item *turn, int sent, double now)
{
    struct flow_lease *lease = flow_leases_find(&p->leases, &turn->at);
    struct flow_peer *peer = flow_peers_find(&p->peers, turn->peer);

    REQUIRE(lease && lease->state == FLOW_FREE && peer);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->served = ++p->turn;
    peer->out++;
    lease->state = FLOW_LEASED;
    lease->peer = peer->number;
    lease->since = now;
    lease->over = 0;
}

/* The lowest lease that has ended although the consumer looked since. */
static const struct flow_lease *
find_overdue(struct flow_producer *p, double now)
{
    const struct flow_lease *lowest = NULL;

    for (size_t i = 0; i < p->leases.n; i++) {
        struct flow_lease *lease = &p->leases.lease[i];

        if (lease->state != FLOW_LEASED || now < lease->since + p->lease_s)
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
    const struct flow_lease *lease = find_overdue(p, now);
    struct flow_peer *peer;

    if (!lease)
        return 0;
    peer = flow_peers_find(&p->peers, lease->peer);
    REQUIRE(peer);
    late->peer = peer->number;
    late->at = lease->at;
    late->lease = p->lease_s;
    late->aside = ASIDE * ldexp(p->lease_s, (int)peer->late);
    late->taken = flow_producer_revoke(p, peer->number);
    peer->suspended = now + late->aside;
    if (peer->late <= DOUBLED_MAX)
        peer->late++;
    return 1;
}

double
flow_producer_due(const struct flow_producer *p, double now)
{
    double due = 1e9;

    for (size_t i = 0; i < p->leases.n; i++) {
        const struct flow_lease *lease = &p->leases.lease[i];
        const double end = lease->since + p->lease_s;

        if (lease->state == FLOW_LEASED && end > now)
            due = fmin(due, end - now);
    }
    if (p->newest.at.session < 0 ||
        !flow_leases_free(&p->leases, (size_t)p->newest.window, 0))
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
        p->leases.n >= (size_t)p->newest.window)
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
