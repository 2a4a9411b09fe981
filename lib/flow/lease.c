#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "lease.h"
#include "window.h"

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
