#ifndef SELECT_LEASE_H
#define SELECT_LEASE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Who works on which item.  Items are numbered from 0 in the order of
 * training; one that was handed out stays leased until it is reported done.
 * When its holder is gone, or late, the next who asks gets it again.  There
 * is no clock and no socket in here: the caller says what time it is.
 *
 * Late is later than `patience` seconds, and than twice as long as the last
 * item that was done had taken: where a step takes long, items wait in the
 * trainer's buffer, and that is no reason to make them twice.
 */
struct select_lease {
    uint64_t item, holder;
    double first, given; /* when it was handed out first, and last */
    int held;            /* 0: the holder is gone */
};

struct select_leases {
    uint64_t total;  /* items of the whole run */
    uint64_t done;   /* items below are trained */
    uint64_t next;   /* items from here on were never handed out */
    double patience; /* seconds, > 0 */
    double took;     /* seconds from handing out to done, lately */
    size_t reissued; /* how often an item was handed out again */

    struct select_lease *lease; /* [n], ascending by item */
    size_t n, room;
};

/* select_leases_start() begins at an item, with nothing handed out: on a new
 * struct (zeroed), or again when the trainer was started anew. */
void select_leases_start(struct select_leases *leases, uint64_t total,
                         uint64_t item, double patience);
void select_leases_release(struct select_leases *leases);

/*
 * select_leases_take() hands an item to a holder: the lowest one that is free
 * again, else the next new one.  Returns 1 with its number, or 0 when all are
 * in other hands.  O(items in flight).
 */
int select_leases_take(struct select_leases *leases, uint64_t holder,
                       double now, uint64_t *item);

/* select_leases_done() ends the leases of all items below one; an earlier
 * report that comes late changes nothing. */
void select_leases_done(struct select_leases *leases, uint64_t below,
                        double now);

/* select_leases_gone() frees all that a holder had. */
void select_leases_gone(struct select_leases *leases, uint64_t holder);

#endif
