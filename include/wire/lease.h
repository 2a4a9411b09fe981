#ifndef WIRE_LEASE_H
#define WIRE_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/next.h"

/*
 * The producer's book of what is handed out and not yet done.
 *
 * An item is named by its place (epoch, step).  It stays leased until its
 * step is trained; when its holder is gone, or its deadline has passed, it
 * may be given to the next who asks, lowest place first.  Time is the
 * caller's (clock_now()).  Kept sorted; O(log n) to find, O(n) to insert or
 * to look for what is late, n being some credits.
 */
struct wire_leases;

/* wire_leases_new(): a lease lasts so many seconds. */
struct wire_leases *wire_leases_new(double seconds);
void wire_leases_free(struct wire_leases *leases);

/* wire_leases_give() writes down that `peer` has the item, anew if it was. */
void wire_leases_give(struct wire_leases *leases, const struct wire_place *at,
                      uint64_t peer, double now);

/*
 * wire_leases_next() finds the lowest item that is to be handed out again:
 * 1 with *at, or 0.  It stays in the book: give it, or ask again later.
 */
int wire_leases_next(const struct wire_leases *leases, double now,
                     struct wire_place *at);

/* wire_leases_due() returns the seconds until the next deadline, or 1e9. */
double wire_leases_due(const struct wire_leases *leases, double now);

/* wire_leases_drop() frees all of a peer that is gone; returns how many. */
size_t wire_leases_drop(struct wire_leases *leases, uint64_t peer);

/* wire_leases_done() forgets all before `at`; returns how many. */
size_t wire_leases_done(struct wire_leases *leases,
                        const struct wire_place *at);

/* wire_leases_clear() forgets all. */
void wire_leases_clear(struct wire_leases *leases);

/* wire_leases_size() returns how many are in the book. */
size_t wire_leases_size(const struct wire_leases *leases);

/* wire_leases_holder() returns who has the item, 0 for nobody. */
uint64_t wire_leases_holder(const struct wire_leases *leases,
                            const struct wire_place *at);

#endif
