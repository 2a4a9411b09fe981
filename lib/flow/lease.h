#ifndef FLOW_LEASE_H
#define FLOW_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "flow/producer.h"

/*
 * The producer's book of what is handed out and not yet done; see
 * flow/producer.h for its rules.
 *
 * An item is named by its place (epoch, step).  It stays leased until its
 * step is trained; one that nobody holds is free.  Kept sorted: O(log n) to
 * find, O(n) to insert or to look for what is free, n being some credits.
 */
struct flow_leases;

/* flow_leases_new(): a lease lasts so many seconds. */
struct flow_leases *flow_leases_new(double seconds);
void flow_leases_free(struct flow_leases *leases);

/* flow_leases_give() writes down that `peer` has the item, anew if it was;
 * peer 0: that it is free. */
void flow_leases_give(struct flow_leases *leases, const struct wire_place *at,
                      uint64_t peer, double now);

/*
 * flow_leases_next() finds the lowest item that is to be handed out again:
 * 1 with *at, or 0.  It stays in the book: give it, or ask again later.
 */
int flow_leases_next(const struct flow_leases *leases, struct wire_place *at);

/* flow_leases_wanted() writes down that the trainer waits for that item. */
void flow_leases_wanted(struct flow_leases *leases,
                        const struct wire_place *at);

/*
 * flow_leases_overdue() takes all items from a peer that is late: 1 with
 * *late, or 0 when there is none.
 */
int flow_leases_overdue(struct flow_leases *leases, double now,
                        struct flow_late *late);

/* flow_leases_aside() returns 1 while a peer is set aside. */
int flow_leases_aside(const struct flow_leases *leases, uint64_t peer,
                      double now);

/* flow_leases_due() returns the seconds until an item is free or a peer is
 * late, or 1e9. */
double flow_leases_due(const struct flow_leases *leases, double now);

/* flow_leases_drop() frees all of a peer that is gone, and forgets whether it
 * was late; returns how many. */
size_t flow_leases_drop(struct flow_leases *leases, uint64_t peer);

/* flow_leases_done() forgets all before `at`; returns how many. */
size_t flow_leases_done(struct flow_leases *leases,
                        const struct wire_place *at);

/* flow_leases_clear() forgets all. */
void flow_leases_clear(struct flow_leases *leases);

/* flow_leases_size() returns how many are in the book. */
size_t flow_leases_size(const struct flow_leases *leases);

/* flow_leases_holder() returns who has the item, 0 for nobody. */
uint64_t flow_leases_holder(const struct flow_leases *leases,
                            const struct wire_place *at);

#endif
