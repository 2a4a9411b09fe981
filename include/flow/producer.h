#ifndef FLOW_PRODUCER_H
#define FLOW_PRODUCER_H

#include "flow/news.h"

/*
 * Handing out the items of a plan: which are wanted, which peer has
 * which, and which are handed out again.
 *
 * A producer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers said and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to which peer.
 * flow/outlet.h binds it to a socket.
 *
 *     snapshot  the newest that a peer passed on (struct wire_next): place,
 *               window, and what of it the consumer has.  One that nobody has
 *               said again for FLOW_LAPSE seconds, while others said older
 *               ones, was never true: the next older one takes its place;
 *               once a peer said that its run is over, only one that the
 *               peer did not say before: a peer that lost the consumer repeats
 *               the same
 *     book      the places of the window, from the first that is not trained:
 *               each is free, leased to one peer, or had.  The caller adds them
 *               in the order of the plan, as far as that is known
 *     lease     ends where the consumer has the batch, or has trained it; is
 *               void where the peer is gone, or is late
 *     room      so many leases a peer may have at once
 *
 * The lowest free place goes to the peer with the most room left, and of those
 * to the one that was served longest ago.
 *
 * A peer is late when one of its leases is older than the lease lasts and a
 * snapshot that came since says that the batch is not there: so a consumer that
 * computes for long, and makes no snapshot, costs nobody a lease.  Since is: a
 * tenth of a second after flow_producer_late() saw that the lease is over, as
 * what comes all at once after a pause of ours was said before; and not the
 * first snapshot of a peer, which may have kept it since long before it was
 * greeted.  All leases of that peer are void then and it is set aside: it gets
 * nothing for four leases, the next time for eight and so on, and after that
 * one item at a time, the highest that is wanted, until one of its leases ends
 * well.  Where no peer is left that was not late, all get items as before.
 *
 * Places are compared by (epoch, step); their sessions agree.  Memory: the
 * peers, and the book of at most WIRE_WINDOW_MAX places.  Not thread-safe.
 */
struct flow_producer;

#define FLOW_LAPSE 3.0

/* flow_producer_new(): a lease lasts so many seconds, > 0. */
struct flow_producer *flow_producer_new(double lease);
void flow_producer_free(struct flow_producer *producer);

/*
 * flow_producer_join() enters a peer, by a number > 0 of its own.
 * flow_producer_leave() takes it out, and returns how many leases it had: these
 * places are free now.
 */
void flow_producer_join(struct flow_producer *producer, uint64_t peer);
size_t flow_producer_leave(struct flow_producer *producer, uint64_t peer);

/*
 * flow_producer_next(): a peer passed on a snapshot.  Returns what that is to
 * the caller: FLOW_PASSED, FLOW_MOVED, FLOW_BACK or FLOW_NOTHING.  After
 * FLOW_MOVED and FLOW_BACK the book is empty, and begins anew at the snapshot's
 * place.
 */
enum flow_what flow_producer_next(struct flow_producer *producer, uint64_t peer,
                                  const struct wire_next *next, double now);

/* flow_producer_end(): a peer says that the run is over, as far as it knows. */
void flow_producer_end(struct flow_producer *producer, uint64_t peer,
                       const struct wire_place *at, double now);

/*
 * flow_producer_refused(): a peer refuses the item of a place.  Where it has
 * it, the lease is void, and the peer gets nothing for a second, twice as long
 * each time in a row, up to 32.
 */
void flow_producer_refused(struct flow_producer *producer, uint64_t peer,
                           const struct wire_place *at, double now);

/*
 * flow_producer_short() returns 1 while places of the window are missing in the
 * book.  flow_producer_add() adds the next one, for which there is an item now;
 * the one after it is looked for at `behind`.  flow_producer_close() says that
 * there is none, and the plan ends there; a book that begins anew is open
 * again.
 */
int flow_producer_short(const struct flow_producer *producer);
void flow_producer_add(struct flow_producer *producer,
                       const struct wire_place *at,
                       const struct wire_place *behind);
void flow_producer_close(struct flow_producer *producer);

/*
 * flow_producer_turn() says which item is to be sent to which peer: 1,
 * or 0 when none is now.  flow_producer_gave() books that it was sent, or that
 * it could not be, and then the peer is passed over for 0.05 s.
 */
struct flow_turn {
    uint64_t peer;
    struct wire_place at;
};
int flow_producer_turn(const struct flow_producer *producer, double now,
                       struct flow_turn *turn);
void flow_producer_gave(struct flow_producer *producer,
                        const struct flow_turn *turn, int sent, double now);

/*
 * flow_producer_late() sets a peer that is late aside: 1, or 0 when there is
 * none.  Call it when all that came is read.  flow_producer_due() returns the
 * seconds until something is to be done that no message tells of, or 1e9.
 */
struct flow_late {
    uint64_t peer;
    struct wire_place at; /* the item that is late */
    size_t taken;         /* leases that are void */
    double lease, aside;  /* seconds that a lease is, that it is set aside */
};
int flow_producer_late(struct flow_producer *producer, double now,
                       struct flow_late *late);
double flow_producer_due(const struct flow_producer *producer, double now);

/*
 * flow_producer_untold() returns a peer that is to be told that the plan ends
 * within the window, or 0: each that asks, once a second.
 * flow_producer_told() books that it was, or could not be.
 */
uint64_t flow_producer_untold(const struct flow_producer *producer, double now);
void flow_producer_told(struct flow_producer *producer, uint64_t peer, int sent,
                        double now);

/*
 * flow_producer_over() returns 1 when the run is over: when all peers said so,
 * and one at least, or when one did and the place did not move for FLOW_QUIET
 * seconds then; or when the place is behind the plan, for FLOW_TRAINED seconds,
 * which is longer than a false snapshot lasts.  What some say does not end a
 * run that others go on with.
 */
#define FLOW_QUIET 30.0
#define FLOW_TRAINED 6.0
int flow_producer_over(const struct flow_producer *producer, double now);

/*
 * The consumer's place, session -1 before any is known, and its window; where
 * what is not in the book begins; the peer that has an item, or had it
 * last, 0 for none; the number of leases.
 */
struct wire_place flow_producer_place(const struct flow_producer *producer);
size_t flow_producer_window(const struct flow_producer *producer);
struct wire_place flow_producer_fresh(const struct flow_producer *producer);
uint64_t flow_producer_holder(const struct flow_producer *producer,
                              const struct wire_place *at);
size_t flow_producer_out(const struct flow_producer *producer);

#endif
