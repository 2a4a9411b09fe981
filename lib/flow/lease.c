#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lease.h"
#include "util/mem.h"

struct lease {
    struct wire_place at;
    uint64_t peer; /* 0: nobody */
    double since;
};

/* A peer that was late, until it delivers or is gone. */
struct laggard {
    uint64_t peer;
    unsigned times; /* in a row */
    double until;   /* set aside */
};

/* Leases for which a peer is set aside first; how often that is doubled. */
enum { ASIDE = 4, DOUBLED_MAX = 8 };

struct flow_leases {
    double seconds;
    int is_wanted;
    struct wire_place wanted;
    size_t n_laggards, room_laggards;
    struct laggard *laggard; /* [n_laggards] */
    size_t n, room;
    struct lease *lease; /* [n], by place */
};

struct flow_leases *
flow_leases_new(double seconds)
{
    struct flow_leases *leases = mem_array(1, sizeof *leases);

    REQUIRE(seconds > 0);
    leases->seconds = seconds;
    return leases;
}

void
flow_leases_free(struct flow_leases *leases)
{
    if (!leases)
        return;
    free(leases->lease);
    free(leases->laggard);
    free(leases);
}

/* The first lease that is not before `at`. */
static size_t
find(const struct flow_leases *leases, const struct wire_place *at)
{
    size_t low = 0, high = leases->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (wire_place_cmp(&leases->lease[middle].at, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int
holds(const struct flow_leases *leases, size_t i, const struct wire_place *at)
{
    return i < leases->n && !wire_place_cmp(&leases->lease[i].at, at);
}

void
flow_leases_give(struct flow_leases *leases, const struct wire_place *at,
                 uint64_t peer, double now)
{
    size_t i = find(leases, at);

    if (!holds(leases, i, at)) {
        mem_grow(&leases->lease, &leases->room, leases->n + 1,
                 sizeof *leases->lease);
        memmove(leases->lease + i + 1, leases->lease + i,
                (leases->n - i) * sizeof *leases->lease);
        leases->n++;
    }
    leases->lease[i] = (struct lease){*at, peer, now};
}

int
flow_leases_next(const struct flow_leases *leases, struct wire_place *at)
{
    for (size_t i = 0; i < leases->n; i++) {
        if (leases->lease[i].peer)
            continue;
        *at = leases->lease[i].at;
        return 1;
    }
    return 0;
}

void
flow_leases_wanted(struct flow_leases *leases, const struct wire_place *at)
{
    leases->is_wanted = 1;
    leases->wanted = *at;
}

/* The lease of the item that the trainer waits for, if somebody holds it. */
static const struct lease *
awaited(const struct flow_leases *leases)
{
    const size_t i = find(leases, &leases->wanted);

    return leases->is_wanted && holds(leases, i, &leases->wanted) &&
                   leases->lease[i].peer
               ? &leases->lease[i]
               : NULL;
}

double
flow_leases_due(const struct flow_leases *leases, double now)
{
    const struct lease *lease = awaited(leases);
    struct wire_place at;

    if (flow_leases_next(leases, &at))
        return 0;
    return lease ? fmax(lease->since + leases->seconds - now, 0) : 1e9;
}

static struct laggard *
find_laggard(const struct flow_leases *leases, uint64_t peer)
{
    for (size_t i = 0; i < leases->n_laggards; i++)
        if (leases->laggard[i].peer == peer)
            return &leases->laggard[i];
    return NULL;
}

static void
forgive(struct flow_leases *leases, uint64_t peer)
{
    struct laggard *laggard = find_laggard(leases, peer);

    if (laggard)
        *laggard = leases->laggard[--leases->n_laggards];
}

int
flow_leases_aside(const struct flow_leases *leases, uint64_t peer, double now)
{
    const struct laggard *laggard = find_laggard(leases, peer);

    return laggard && now < laggard->until;
}

/* How long a peer that is late once more is set aside. */
static double
set_aside(struct flow_leases *leases, uint64_t peer, double now)
{
    struct laggard *laggard = find_laggard(leases, peer);
    double seconds;

    if (!laggard) {
        mem_grow(&leases->laggard, &leases->room_laggards,
                 leases->n_laggards + 1, sizeof *leases->laggard);
        laggard = &leases->laggard[leases->n_laggards++];
        *laggard = (struct laggard){.peer = peer};
    }
    seconds = ASIDE * leases->seconds * (double)(1u << laggard->times);
    if (laggard->times < DOUBLED_MAX)
        laggard->times++;
    laggard->until = now + seconds;
    return seconds;
}

static size_t
take_all(struct flow_leases *leases, uint64_t peer)
{
    size_t taken = 0;

    for (size_t i = 0; i < leases->n; i++) {
        if (leases->lease[i].peer != peer)
            continue;
        leases->lease[i].peer = 0;
        taken++;
    }
    return taken;
}

int
flow_leases_overdue(struct flow_leases *leases, double now,
                    struct flow_late *late)
{
    const struct lease *lease = awaited(leases);

    if (!lease || now < lease->since + leases->seconds)
        return 0;
    late->peer = lease->peer;
    late->at = lease->at;
    late->taken = take_all(leases, late->peer);
    late->lease = leases->seconds;
    late->aside = set_aside(leases, late->peer, now);
    return 1;
}

size_t
flow_leases_drop(struct flow_leases *leases, uint64_t peer)
{
    forgive(leases, peer);
    return take_all(leases, peer);
}

size_t
flow_leases_done(struct flow_leases *leases, const struct wire_place *at)
{
    size_t done = find(leases, at);

    for (size_t i = 0; i < done; i++) // it was trained: who had it delivered
        forgive(leases, leases->lease[i].peer);
    leases->n -= done;
    if (done && leases->n)
        memmove(leases->lease, leases->lease + done,
                leases->n * sizeof *leases->lease);
    return done;
}

void
flow_leases_clear(struct flow_leases *leases)
{
    leases->n = leases->n_laggards = 0;
    leases->is_wanted = 0;
}

size_t
flow_leases_size(const struct flow_leases *leases)
{
    return leases->n;
}

uint64_t
flow_leases_holder(const struct flow_leases *leases,
                   const struct wire_place *at)
{
    size_t i = find(leases, at);

    return holds(leases, i, at) ? leases->lease[i].peer : 0;
}
