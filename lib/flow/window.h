#ifndef FLOW_WINDOW_H
#define FLOW_WINDOW_H

#include "wire/next.h"

/*
 * A snapshot of a consumer (struct wire_next), kept: a copy of its own, which
 * can be asked about places.  A consumer fills one in, producer and relay keep
 * the newest that they heard.
 */
struct flow_window {
    struct wire_place at; /* session -1: none yet */
    int64_t serial, window;
    size_t n, n_room;
    int64_t (*have)[2]; /* [n] rising */
};

/*
 * flow_places_before() returns how many elements of an array lie before a
 * place, by (epoch, step); O(log n). first   [n], rising; each begins with its
 * struct wire_place size    bytes of an element
 */
size_t flow_places_before(const void *first, size_t n, size_t size,
                          const struct wire_place *at);

void flow_window_init(struct flow_window *w);
void flow_window_release(struct flow_window *w);

/* flow_window_set() keeps a copy; flow_window_get() is what it says, lent. */
void flow_window_set(struct flow_window *w, const struct wire_next *next);
struct wire_next flow_window_get(const struct flow_window *w);

/* flow_window_order() is < 0, 0, > 0 where what comes is older than what we
 * have, the same or newer. */
int flow_window_order(const struct flow_window *w,
                      const struct wire_next *comes);

/*
 * flow_window_has() returns 1 where a place is held; flow_window_wants() where
 * it is neither held nor before the first, its session being the same.  That it
 * may lie beyond the last only the plan knows.
 */
int flow_window_has(const struct flow_window *w, const struct wire_place *at);
int flow_window_wants(const struct flow_window *w, const struct wire_place *at);

#endif
