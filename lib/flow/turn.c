#include <math.h>

#include "book.h"

/* Seconds between two words that the plan ends; after a lease was seen to be
 * over, in which what comes may have been said long before: all at once, where
 * we were stopped. */
static const double repeated = 1, second_look = 0.1;

/* Leases for which a peer is set aside first; how often that is doubled. */
enum { ASIDE = 4, DOUBLED_MAX = 8 };

/* Whether a peer knows of this session and takes items at all. */
static int
is_there(const struct flow_producer *p, const struct flow_peer *peer)
{
    return peer->session == p->newest.at.session && peer->room;
}

/* Whether nobody is left who was not late: then it counts for nothing. */
static int
all_late(const struct flow_producer *p)
{
    size_t i = 0;

    while (i < p->peers.n &&
           (p->peers.peer[i].late || !is_there(p, &p->peers.peer[i])))
        i++;
    return i == p->peers.n;
}

/* How many items a peer may get now. */
static size_t
count_spare(const struct flow_producer *p, const struct flow_peer *peer,
            int any, double now)
{
    const size_t room = peer->late && !any ? 1 : peer->room;

    if (!is_there(p, peer) || peer->blocked > now || peer->out >= room ||
        (!any && peer->aside > now))
        return 0;
    return room - peer->out;
}

/*
 * The peer that is to get the next item, or NULL: the one that was late least
 * often, then the one with the most room, then the one that was served longest
 * ago.  Among peers that were all late, room alone must not decide: one that
 * never delivers may have the most.
 */
static const struct flow_peer *
choose_taker(const struct flow_producer *p, int any, double now)
{
    const struct flow_peer *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];
        const size_t n = count_spare(p, peer, any, now);
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
flow_producer_turn(const struct flow_producer *p, double now,
                   struct flow_turn *turn)
{
    const size_t window =
        p->newest.at.session < 0 ? 0 : (size_t)p->newest.window;
    const struct flow_lease *lease = flow_leases_free(&p->leases, window, 0);
    const struct flow_peer *peer;
    int any;

    if (!lease)
        return 0;
    any = all_late(p);
    peer = choose_taker(p, any, now);
    if (!peer)
        return 0;
    if (peer->late && !any)
        lease = flow_leases_free(&p->leases, window, 1);
    *turn = (struct flow_turn){peer->number, lease->at};
    turn->at.session = p->newest.at.session;
    return 1;
}

void
flow_producer_gave(struct flow_producer *p, const struct flow_turn *turn,
                   int sent, double now)
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

/* The lowest lease that is over although the consumer has looked since. */
static const struct flow_lease *
find_overdue(struct flow_producer *p, double now)
{
    const struct flow_lease *lowest = NULL;

    for (size_t i = 0; i < p->leases.n; i++) {
        struct flow_lease *lease = &p->leases.lease[i];

        if (lease->state != FLOW_LEASED || now < lease->since + p->seconds)
            continue;
        if (!lease->over)
            lease->over = now;
        if (!lowest && p->came > lease->over + second_look)
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
    late->lease = p->seconds;
    late->aside = ASIDE * ldexp(p->seconds, (int)peer->late);
    late->taken = flow_book_void(p, peer->number);
    peer->aside = now + late->aside;
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
        const double end = lease->since + p->seconds;

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
        if (peer->aside > now)
            due = fmin(due, peer->aside - now);
    }
    return due;
}

uint64_t
flow_producer_untold(const struct flow_producer *p, double now)
{
    if (!p->closed || p->newest.at.session < 0 ||
        p->leases.n >= (size_t)p->newest.window)
        return 0;
    for (size_t i = 0; i < p->peers.n; i++) {
        const struct flow_peer *peer = &p->peers.peer[i];

        if (peer->asks && is_there(p, peer) && peer->blocked <= now &&
            now - peer->told >= repeated)
            return peer->number;
    }
    return 0;
}

void
flow_producer_told(struct flow_producer *p, uint64_t number, int sent,
                   double now)
{
    struct flow_peer *peer = flow_peers_find(&p->peers, number);

    REQUIRE(peer);
    if (!sent) {
        flow_peers_busy(peer, now);
        return;
    }
    peer->told = now;
    peer->asks = 0;
}
