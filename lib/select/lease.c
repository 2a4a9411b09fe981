#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/lease.h"
#include "util/mem.h"

void
select_leases_start(struct select_leases *leases, uint64_t total, uint64_t item,
                    double patience)
{
    leases->total = total;
    leases->done = leases->next = item;
    leases->patience = patience;
    leases->took = 0;
    leases->n = 0;
}

void
select_leases_release(struct select_leases *leases)
{
    free(leases->lease);
    *leases = (struct select_leases){0};
}

static int
is_free(const struct select_leases *leases, const struct select_lease *lease,
        double now)
{
    double late = fmax(leases->patience, 2 * leases->took);

    return !lease->held || now - lease->given > late;
}

int
select_leases_take(struct select_leases *leases, uint64_t holder, double now,
                   uint64_t *item)
{
    struct select_lease *lease = leases->lease;
    size_t i = 0;

    while (i < leases->n && !is_free(leases, lease + i, now))
        i++;
    if (i < leases->n) {
        lease += i;
        leases->reissued++;
    } else {
        if (leases->next >= leases->total)
            return 0;
        mem_grow(&leases->lease, &leases->room, leases->n + 1, sizeof *lease);
        lease = leases->lease + leases->n++;
        *lease = (struct select_lease){.item = leases->next++, .first = now};
    }
    lease->holder = holder;
    lease->given = now;
    lease->held = 1;
    *item = lease->item;
    return 1;
}

void
select_leases_done(struct select_leases *leases, uint64_t below, double now)
{
    size_t ended = 0;

    if (below <= leases->done)
        return;
    leases->done = below;
    while (ended < leases->n && leases->lease[ended].item < below)
        leases->took = now - leases->lease[ended++].first;
    leases->n -= ended;
    if (leases->n)
        memmove(leases->lease, leases->lease + ended,
                leases->n * sizeof *leases->lease);
    if (leases->next < below) // trained from what another selector planned
        leases->next = below;
}

void
select_leases_gone(struct select_leases *leases, uint64_t holder)
{
    for (size_t i = 0; i < leases->n; i++)
        if (leases->lease[i].holder == holder)
            leases->lease[i].held = 0;
}
