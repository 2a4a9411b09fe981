#ifndef WIRE_LEASE_H
#define WIRE_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/next.h"

/*
 * The producer's book of what is handed out and not yet done.
 *
 * An item is named by its place (epoch, step).  It stays leased until its
 * step is trained.  When its holder is gone it is free, and goes to the next
 * peer that asks, lowest place first.  When the trainer waits for it and its
 * lease is over, its holder is late: it loses all that it holds, and is set
 * aside for four leases, for twice that the next time and so on, until one of
 * its items is trained.  The end of a lease alone means nothing:
 * the batch may lie with a trainer that is slow.  Time is the caller's
 * (clock_now()).  Kept sorted; O(log n) to
 * find, O(n) to insert or to look for what is late, n being some credits.
 */
struct wire_leases;

/* wire_leases_new(): a lease lasts so many seconds. */
struct wire_leases *wire_leases_new(double seconds);
void wire_leases_free(struct wire_leases *leases);

/* wire_leases_give() writes down that `peer` has the item, anew if it was;
 * peer 0: that it is free. */
void wire_leases_give(struct wire_leases *leases, const struct wire_place *at,
                      uint64_t peer, double now);

/*
 * wire_leases_next() finds the lowest item that is to be handed out again:
 * 1 with *at, or 0.  It stays in the book: give it, or ask again later.
 */
int wire_leases_next(const struct wire_leases *leases, struct wire_place *at);

/* wire_leases_wanted() writes down that the trainer waits for that item. */
void wire_leases_wanted(struct wire_leases *leases,
                        const struct wire_place *at);

/*
 * wire_leases_overdue() takes all items from a peer that is late: 1 with
 * *late, or 0 when there is none.
 */
struct wire_late {
    uint64_t peer;
    struct wire_place at; /* the item that is late */
    size_t taken;         /* items that it held */
    double aside;         /* seconds for which it is set aside */
};
int wire_leases_overdue(struct wire_leases *leases, double now,
                        struct wire_late *late);

/* wire_leases_late() puts *late into words, from the peer's name on. */
void wire_leases_late(const struct wire_leases *leases,
                      const struct wire_late *late, const char *name,
                      struct err *words);

/* wire_leases_aside() returns 1 while a peer is set aside. */
int wire_leases_aside(const struct wire_leases *leases, uint64_t peer,
                      double now);

/* wire_leases_due() returns the seconds until an item is free or a peer is
 * late, or 1e9. */
double wire_leases_due(const struct wire_leases *leases, double now);

/* wire_leases_drop() frees all of a peer that is gone, and forgets whether it
 * was late; returns how many. */
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
