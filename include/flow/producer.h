#ifndef FLOW_PRODUCER_H
#define FLOW_PRODUCER_H

#include "flow/news.h"

/*
 * Handing out the items of a plan: which items are wanted, which peer has
 * which, and which have to be handed out again.
 *
 * A producer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers said and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to which peer.
 * flow/outlet.h binds it to a socket.
 *
 *     snapshot  the newest that a peer passed on (struct wire_next): place,
 *               window, and what of it the consumer has.  One that no peer has
 *               repeated for FLOW_LAPSE seconds, while peers said older ones,
 *               was never true, and the next older one replaces it.  Once any
 *               peer has said that the run is over, only one that its peer did
 *               not say before does so, since a peer that lost the consumer
 *               repeats its last one
 *     book      the places of the window, from the first that is not trained.
 *               Each is free, leased to one peer, or had by the consumer.  The
 *               caller adds them in the order of the plan, as far as known
 *     lease     ends when the consumer has the batch, or has trained it; is
 *               void when the peer is gone, or is late
 *     room      how many leases a peer may have at once
 *
 * The lowest free place goes to the peer with the most room left, and of those
 * to the one that was served longest ago.
 *
 * A peer is late when one of its leases is older than `lease` seconds and a
 * snapshot that came since says that the batch is not there.  So a consumer
 * that computes for long, and makes no snapshot, costs no peer a lease.  A
 * snapshot counts as come since if it came a tenth of a second or more after
 * flow_producer_late() saw that the lease is over, for messages that come all
 * at once after a pause of ours are older than they seem.  The first snapshot
 * of a peer does not count: the peer may have kept it since long before its
 * greeting.
 *
 * All leases of a late peer are void, and it is set aside: it gets nothing for
 * the time of four leases, the next time of eight and so on, and after that one
 * item at a time, the highest that is wanted, until one of its leases ends
 * well.  Where all peers were late, all get items as before.
 *
 * Places are compared by (epoch, step); their sessions agree.  Memory: the
 * peers, and the book of at most WIRE_WINDOW_MAX places.  Not thread-safe.
 */
struct flow_producer;

#define FLOW_LAPSE 3.0 /* s */

/* flow_producer_new() makes a producer whose leases last `lease` > 0 s. */
struct flow_producer *flow_producer_new(double lease);
void flow_producer_free(struct flow_producer *producer);

/*
 * flow_producer_join() enters a peer, by a number > 0 that no other has.
 * flow_producer_leave() takes it out and returns how many leases it had, whose
 * places are free now.
 */
void flow_producer_join(struct flow_producer *producer, uint64_t peer);
size_t flow_producer_leave(struct flow_producer *producer, uint64_t peer);

/*
 * flow_producer_next() books a snapshot that a peer passed on.  Returns what it
 * means to the caller (flow/news.h): FLOW_PASSED, FLOW_MOVED, FLOW_BACK or
 * FLOW_NOTHING.  After FLOW_MOVED and FLOW_BACK the book is empty, and begins
 * anew at the snapshot's place.
 */
enum flow_what flow_producer_next(struct flow_producer *producer, uint64_t peer,
                                  const struct wire_next *next, double now);

/* flow_producer_end() books that a peer says that the run is over, as far as it
 * knows. */
void flow_producer_end(struct flow_producer *producer, uint64_t peer,
                       const struct wire_place *at, double now);

/*
 * flow_producer_refused() books that a peer refuses the item of a place.  If
 * the peer has its lease, that is void, and the peer gets nothing for a second,
 * twice as long each time in a row, up to 32 s.
 */
void flow_producer_refused(struct flow_producer *producer, uint64_t peer,
                           const struct wire_place *at, double now);

/*
 * flow_producer_short() returns 1 while places of the window are missing in the
 * book.  flow_producer_add() adds the next one, `at`, for which the caller has
 * an item; `behind` is the place after it.  flow_producer_close() says that
 * there is no next one: the plan ends there.  A book that begins anew is open
 * again.
 */
int flow_producer_short(const struct flow_producer *producer);
void flow_producer_add(struct flow_producer *producer,
                       const struct wire_place *at,
                       const struct wire_place *behind);
void flow_producer_close(struct flow_producer *producer);

/*
 * flow_producer_turn() says which item is to be sent to which peer: 1, or 0
 * when none is.  flow_producer_gave() books that it was sent (sent = 1), or
 * that it could not be, and then the peer is passed over for 0.05 s.
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
 * none.  Call it when all messages that came are read.  flow_producer_due()
 * returns the seconds until there is something to do without any message, such
 * as a lease that is over; 1e9 for never.
 */
struct flow_late {
    uint64_t peer;
    struct wire_place at; /* the item that is late */
    size_t taken;         /* leases that are void */
    double lease, aside;  /* seconds of a lease; of its being set aside */
};
int flow_producer_late(struct flow_producer *producer, double now,
                       struct flow_late *late);
double flow_producer_due(const struct flow_producer *producer, double now);

/*
 * flow_producer_untold() returns a peer that is to be told that the plan ends
 * within the window, each peer that asks once a second, or 0.
 * flow_producer_told() books that it was told (sent = 1), or could not be.
 */
uint64_t flow_producer_untold(const struct flow_producer *producer, double now);
void flow_producer_told(struct flow_producer *producer, uint64_t peer, int sent,
                        double now);

/*
 * flow_producer_over() returns 1 when the run is over: when there are peers and
 * all said so; when one did and the place did not move for FLOW_QUIET seconds
 * since; or when the place is behind the plan's end for FLOW_TRAINED seconds,
 * which is longer than a false snapshot lasts.  So the word of some peers does
 * not end a run that others go on with.
 */
#define FLOW_QUIET 30.0
#define FLOW_TRAINED 6.0
int flow_producer_over(const struct flow_producer *producer, double now);

/*
 * flow_producer_place() returns the consumer's place, session -1 before any is
 * known, flow_producer_window() its window, flow_producer_fresh() the first
 * place behind those in the book, flow_producer_holder() the peer that has an
 * item, or had it last, 0 for none, and flow_producer_out() the number of
 * leases.  flow_producer_missing() returns the peer that has the item of the
 * consumer's place where the consumer waits for it, or 0: a consumer that waits
 * makes a snapshot each second.
 */
struct wire_place flow_producer_place(const struct flow_producer *producer);
size_t flow_producer_window(const struct flow_producer *producer);
struct wire_place flow_producer_fresh(const struct flow_producer *producer);
uint64_t flow_producer_holder(const struct flow_producer *producer,
                              const struct wire_place *at);
uint64_t flow_producer_missing(const struct flow_producer *producer,
                               double now);
size_t flow_producer_out(const struct flow_producer *producer);

#endif
