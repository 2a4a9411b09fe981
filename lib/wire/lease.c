#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/lease.h"

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

struct wire_leases {
    double seconds;
    int is_wanted;
    struct wire_place wanted;
    size_t n_laggards, room_laggards;
    struct laggard *laggard; /* [n_laggards] */
    size_t n, room;
    struct lease *lease; /* [n], by place */
};

struct wire_leases *
wire_leases_new(double seconds)
{
    struct wire_leases *leases = mem_array(1, sizeof *leases);

    REQUIRE(seconds > 0);
    leases->seconds = seconds;
    return leases;
}

void
wire_leases_free(struct wire_leases *leases)
{
    if (!leases)
        return;
    free(leases->lease);
    free(leases->laggard);
    free(leases);
}

/* The first lease that is not before `at`. */
static size_t
find(const struct wire_leases *leases, const struct wire_place *at)
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
holds(const struct wire_leases *leases, size_t i, const struct wire_place *at)
{
    return i < leases->n && !wire_place_cmp(&leases->lease[i].at, at);
}

void
wire_leases_give(struct wire_leases *leases, const struct wire_place *at,
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
wire_leases_next(const struct wire_leases *leases, struct wire_place *at)
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
wire_leases_wanted(struct wire_leases *leases, const struct wire_place *at)
{
    leases->is_wanted = 1;
    leases->wanted = *at;
}

/* The lease of the item that the trainer waits for, if somebody holds it. */
static const struct lease *
awaited(const struct wire_leases *leases)
{
    const size_t i = find(leases, &leases->wanted);

    return leases->is_wanted && holds(leases, i, &leases->wanted) &&
                   leases->lease[i].peer
               ? &leases->lease[i]
               : NULL;
}

double
wire_leases_due(const struct wire_leases *leases, double now)
{
    const struct lease *lease = awaited(leases);
    struct wire_place at;

    if (wire_leases_next(leases, &at))
        return 0;
    return lease ? fmax(lease->since + leases->seconds - now, 0) : 1e9;
}

static struct laggard *
find_laggard(const struct wire_leases *leases, uint64_t peer)
{
    for (size_t i = 0; i < leases->n_laggards; i++)
        if (leases->laggard[i].peer == peer)
            return &leases->laggard[i];
    return NULL;
}

static void
forgive(struct wire_leases *leases, uint64_t peer)
{
    struct laggard *laggard = find_laggard(leases, peer);

    if (laggard)
        *laggard = leases->laggard[--leases->n_laggards];
}

int
wire_leases_aside(const struct wire_leases *leases, uint64_t peer, double now)
{
    const struct laggard *laggard = find_laggard(leases, peer);

    return laggard && now < laggard->until;
}

/* How long a peer that is late once more is set aside. */
static double
set_aside(struct wire_leases *leases, uint64_t peer, double now)
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
take_all(struct wire_leases *leases, uint64_t peer)
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
wire_leases_overdue(struct wire_leases *leases, double now,
                    struct wire_late *late)
{
    const struct lease *lease = awaited(leases);

    if (!lease || now < lease->since + leases->seconds)
        return 0;
    late->peer = lease->peer;
    late->at = lease->at;
    late->taken = take_all(leases, late->peer);
    late->aside = set_aside(leases, late->peer, now);
    return 1;
}

void
wire_leases_late(const struct wire_leases *leases, const struct wire_late *late,
                 const char *name, struct err *words)
{
    err_set(words,
            "'%.100s' did not deliver epoch %jd, step %jd within %g seconds: "
            "its %zu items go to others, and it gets none for %g seconds",
            name, (intmax_t)late->at.epoch, (intmax_t)late->at.step,
            leases->seconds, late->taken, late->aside);
}

size_t
wire_leases_drop(struct wire_leases *leases, uint64_t peer)
{
    forgive(leases, peer);
    return take_all(leases, peer);
}

size_t
wire_leases_done(struct wire_leases *leases, const struct wire_place *at)
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
wire_leases_clear(struct wire_leases *leases)
{
    leases->n = leases->n_laggards = 0;
    leases->is_wanted = 0;
}

size_t
wire_leases_size(const struct wire_leases *leases)
{
    return leases->n;
}

uint64_t
wire_leases_holder(const struct wire_leases *leases,
                   const struct wire_place *at)
{
    size_t i = find(leases, at);

    return holds(leases, i, at) ? leases->lease[i].peer : 0;
}
