#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "window.h"

size_t
flow_places_before(const void *first, size_t n, size_t size,
                   const struct wire_place *at)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const void *place = (const char *)first + middle * size;

        if (wire_place_cmp(place, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
flow_snapshot_init(struct wire_want *w)
{
    *w = (struct wire_want){.at.session = -1, .room = -1};
}

void
flow_snapshot_release(struct wire_want *w)
{
    free((void *)w->have);
    flow_snapshot_init(w);
}

void
flow_snapshot_set(struct wire_want *w, const struct wire_want *want)
{
    const size_t n = want->have ? want->n_have : 0;
    int64_t *have = n ? mem_array(2 * n, sizeof *have) : NULL;

    if (n)
        memcpy(have, want->have, 2 * n * sizeof *have);
    flow_snapshot_release(w);
    *w = *want;
    w->n_have = n;
    w->have = have;
    w->room = -1;
    w->msg = NULL;
}

int
flow_snapshot_order(const struct wire_want *w, const struct wire_want *received)
{
    if (received->at.session != w->at.session)
        return received->at.session < w->at.session ? -1 : 1;
    return (received->serial > w->serial) - (received->serial < w->serial);
}

static int
compare_held(const void *at, const void *have)
{
    const int64_t *pair = have;
    const struct wire_place held = {.epoch = pair[0], .step = pair[1]};

    return wire_place_cmp(at, &held);
}

int
flow_snapshot_has(const struct wire_want *w, const struct wire_place *at)
{
    return w->n_have &&
           bsearch(at, w->have, w->n_have, 2 * sizeof *w->have, compare_held);
}

int
flow_snapshot_wants(const struct wire_want *w, const struct wire_place *at)
{
    return at->session == w->at.session && wire_place_cmp(at, &w->at) >= 0 &&
           !flow_snapshot_has(w, at);
}
