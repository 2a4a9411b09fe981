#pragma once

#include "wire/progress.h"

/*
 * A copy of a consumer's snapshot (struct wire_want): the places (session,
 * epoch, step) that the consumer has and wants.  The consumer makes snapshots;
 * producer and relay store the newest one that they received.  The copy has its
 * own `have`; `msg` is NULL and `room` 0.
 */

/*
 * flow_places_before() returns how many elements of an array are before a
 * place, by (epoch, step); O(log n).
 *   first   [n], in rising order; each begins with its struct wire_place
 *   size    bytes of an element
 */
size_t flow_places_before(const void *first, size_t n, size_t size,
                          const struct wire_place *at);

/* flow_snapshot_init() makes an empty snapshot of session -1;
 * flow_snapshot_set() stores a copy. */
void flow_snapshot_init(struct wire_want *w);
void flow_snapshot_release(struct wire_want *w);
void flow_snapshot_set(struct wire_want *w, const struct wire_want *want);

/* flow_snapshot_order() returns < 0, 0, > 0 when `received` is older than ours,
 * the same or newer. */
int flow_snapshot_order(const struct wire_want *w,
                        const struct wire_want *received);

/* flow_snapshot_has() returns 1 for a place that is held, flow_snapshot_wants()
 * for one of the same session that is neither held nor before the first.  The
 * upper end of the window is not checked: it depends on the plan. */
int flow_snapshot_has(const struct wire_want *w, const struct wire_place *at);
int flow_snapshot_wants(const struct wire_want *w, const struct wire_place *at);
