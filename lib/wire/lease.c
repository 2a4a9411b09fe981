#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/lease.h"

struct lease {
    struct wire_place at;
    uint64_t peer; /* 0: nobody */
    double until;
};

struct wire_leases {
    double seconds;
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
    leases->lease[i] = (struct lease){*at, peer, now + leases->seconds};
}

static int
is_free(const struct lease *lease, double now)
{
    return !lease->peer || now >= lease->until;
}

int
wire_leases_next(const struct wire_leases *leases, double now,
                 struct wire_place *at)
{
    for (size_t i = 0; i < leases->n; i++) {
        if (!is_free(&leases->lease[i], now))
            continue;
        *at = leases->lease[i].at;
        return 1;
    }
    return 0;
}

double
wire_leases_due(const struct wire_leases *leases, double now)
{
    double due = 1e9;

    for (size_t i = 0; i < leases->n; i++) {
        double left = leases->lease[i].until - now;

        if (is_free(&leases->lease[i], now))
            return 0;
        due = left < due ? left : due;
    }
    return due;
}

size_t
wire_leases_drop(struct wire_leases *leases, uint64_t peer)
{
    size_t dropped = 0;

    for (size_t i = 0; i < leases->n; i++) {
        if (leases->lease[i].peer != peer)
            continue;
        leases->lease[i].peer = 0;
        dropped++;
    }
    return dropped;
}

size_t
wire_leases_done(struct wire_leases *leases, const struct wire_place *at)
{
    size_t done = find(leases, at);

    leases->n -= done;
    if (done && leases->n)
        memmove(leases->lease, leases->lease + done,
                leases->n * sizeof *leases->lease);
    return done;
}

void
wire_leases_clear(struct wire_leases *leases)
{
    leases->n = 0;
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
