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
flow_window_init(struct flow_window *w)
{
    *w = (struct flow_window){.at.session = -1};
}

void
flow_window_release(struct flow_window *w)
{
    free(w->have);
    flow_window_init(w);
}

void
flow_window_set(struct flow_window *w, const struct wire_want *next)
{
    w->at = next->at;
    w->serial = next->serial;
    w->window = next->window;
    w->n = next->have ? next->n_have : 0;
    mem_grow(&w->have, &w->n_room, w->n, sizeof *w->have);
    if (w->n)
        memcpy(w->have, next->have, w->n * sizeof *w->have);
    memcpy(w->plan, next->plan, sizeof w->plan);
    memcpy(w->order, next->order, sizeof w->order);
}

struct wire_want
flow_window_get(const struct flow_window *w)
{
    struct wire_want next = {.at = w->at,
                             .serial = w->serial,
                             .window = w->window,
                             .n_have = w->n,
                             .have = w->n ? w->have[0] : NULL};

    memcpy(next.plan, w->plan, sizeof next.plan);
    memcpy(next.order, w->order, sizeof next.order);
    return next;
}

int
flow_window_order(const struct flow_window *w, const struct wire_want *comes)
{
    if (comes->at.session != w->at.session)
        return comes->at.session < w->at.session ? -1 : 1;
    return (comes->serial > w->serial) - (comes->serial < w->serial);
}

int
flow_window_has(const struct flow_window *w, const struct wire_place *at)
{
    size_t low = 0, high = w->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct wire_place held = {at->session, w->have[middle][0],
                                        w->have[middle][1]};
        const int order = wire_place_cmp(&held, at);

        if (!order)
            return 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

int
flow_window_wants(const struct flow_window *w, const struct wire_place *at)
{
    return at->session == w->at.session && wire_place_cmp(at, &w->at) >= 0 &&
           !flow_window_has(w, at);
}
