#ifndef FLOW_WINDOW_H
#define FLOW_WINDOW_H

#include "wire/progress.h"

/*
 * A copy of a consumer's snapshot (struct wire_want) that can be queried for
 * places.  A consumer fills it in; producer and relay store the newest that
 * they received.
 */
struct flow_window {
    struct wire_place at; /* session -1: none yet */
    int64_t serial, window;
    size_t n, n_room;
    int64_t (*have)[2]; /* [n] in rising order */
    char plan[256], order[33];
};

/*
 * flow_places_before() returns how many elements of an array are before a
 * place, by (epoch, step); O(log n).
 *   first   [n], in rising order; each begins with its struct wire_place
 *   size    bytes of an element
 */
size_t flow_places_before(const void *first, size_t n, size_t size,
                          const struct wire_place *at);

void flow_window_init(struct flow_window *w);
void flow_window_release(struct flow_window *w);

/* flow_window_set() stores a copy; flow_window_get() returns the snapshot,
 * which points into *w. */
void flow_window_set(struct flow_window *w, const struct wire_want *next);
struct wire_want flow_window_get(const struct flow_window *w);

/* flow_window_order() returns < 0, 0, > 0 when `comes` is older than ours, the
 * same or newer. */
int flow_window_order(const struct flow_window *w,
                      const struct wire_want *comes);

/*
 * flow_window_has() returns 1 for a place that is held, flow_window_wants() for
 * one of the same session that is neither held nor before the first.  The upper
 * end of the window is not checked: only the plan knows it.
 */
int flow_window_has(const struct flow_window *w, const struct wire_place *at);
int flow_window_wants(const struct flow_window *w, const struct wire_place *at);

#endif
