#ifndef FLOW_PRODUCER_H
#define FLOW_PRODUCER_H

#include "wire/next.h"

/*
 * Handing out the items of a plan: who asks, who has what, and what is handed
 * out again.
 *
 * A producer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers said and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to whom.
 * flow/outlet.h binds it to a socket.
 *
 *     peers    each has open credit: so many items are welcome
 *     place    the trainer's: the first step that is not trained.  The largest
 *              session counts; within one the place only moves on, but for
 *              flow_producer_next() with `waits`
 *     leases   items that are handed out and not trained.  One whose holder is
 *              gone, or is late, is free, and is handed out first
 *     fresh    what was never handed out begins at this place
 *
 * An item is late when the trainer waits for it and its lease is over.  Its
 * holder loses all items that it has and is set aside: it gets none while
 * others are there, for four leases, then for eight and so on, until one of
 * its items is trained.  The end of a lease alone means nothing: the batch may
 * lie with a trainer that is slow.
 *
 * Places are compared by (epoch, step); their sessions agree.  Memory: the
 * peers, and at most as many leases as credit was given.  Not thread-safe.
 */
struct flow_producer;

/* flow_producer_new(): a lease lasts so many seconds, > 0. */
struct flow_producer *flow_producer_new(double lease);
void flow_producer_free(struct flow_producer *producer);

/*
 * flow_producer_join() enters a peer, by a number > 0 of its own, without
 * credit.  flow_producer_leave() takes it out, and returns how many items it
 * had: they are free now.
 */
void flow_producer_join(struct flow_producer *producer, uint64_t peer);
size_t flow_producer_leave(struct flow_producer *producer, uint64_t peer);

/*
 * What a peer said: `next` and `done` tell where the trainer is, `next` brings
 * credit, `end` says that the run is over as far as that peer knows.
 *
 * Where `next` says that the trainer waits for a place before the one that we
 * know, it is old news of a peer that lags behind, and passed over; said again
 * after a second, whoever named the later place was wrong, and we go back.
 */
enum flow_said {
    FLOW_NOTHING, /* that need concern the caller */
    FLOW_MOVED,   /* a newer session: all leases and credit are forgotten */
    FLOW_PASSED,  /* the place has moved on */
    FLOW_WAITED,  /* the trainer waits for the item of its place */
    FLOW_BACK     /* the same, and the place was a later one: all leases are
                   * forgotten, and fresh is there again */
};
enum flow_said flow_producer_next(struct flow_producer *producer, uint64_t peer,
                                  const struct wire_next *next, double now);
enum flow_said flow_producer_done(struct flow_producer *producer,
                                  const struct wire_place *at, double now);
void flow_producer_end(struct flow_producer *producer, uint64_t peer,
                       const struct wire_place *at, double now);

/*
 * flow_producer_turn() says whose turn it is, and for which item: 1, or 0 when
 * nobody asks.  Of those with credit it is the one that was served longest ago;
 * of items the lowest that is free, or else the fresh one, which the caller may
 * not have ready yet.  Nothing has changed then: flow_producer_gave() books
 * that the item was sent, or that it could not be, and then the peer is passed
 * over for 0.05 s.  After a fresh item flow_producer_go() says where the next
 * one is.
 */
struct flow_turn {
    uint64_t peer;
    struct wire_place at; /* of the trainer's session */
    int again;            /* it was handed out before */
};
int flow_producer_turn(const struct flow_producer *producer, double now,
                       struct flow_turn *turn);
void flow_producer_gave(struct flow_producer *producer,
                        const struct flow_turn *turn, int sent, double now);
void flow_producer_go(struct flow_producer *producer,
                      const struct wire_place *fresh);

/*
 * flow_producer_late() takes all items from a peer that is late: 1 with *late,
 * or 0 when there is none.  flow_producer_due() returns the seconds until an
 * item is free or a peer is late, or 1e9.
 */
struct flow_late {
    uint64_t peer;
    struct wire_place at; /* the item that is late */
    size_t taken;         /* items that it held */
    double lease, aside;  /* seconds that a lease is, that it is set aside */
};
int flow_producer_late(struct flow_producer *producer, double now,
                       struct flow_late *late);
double flow_producer_due(const struct flow_producer *producer, double now);

/*
 * flow_producer_untold() returns a peer that is to be told that nothing is left
 * of the plan, or 0: each once, and again when it asks for more.
 * flow_producer_told() books that it was, or could not be.
 */
uint64_t flow_producer_untold(const struct flow_producer *producer, double now);
void flow_producer_told(struct flow_producer *producer, uint64_t peer, int sent,
                        double now);

/*
 * flow_producer_over() returns 1 when the run is over: when all peers said so,
 * and one at least, or when one did and the place did not move for FLOW_QUIET
 * seconds then.  What some say does not end a run that others go on with.
 */
#define FLOW_QUIET 30.0
int flow_producer_over(const struct flow_producer *producer, double now);

/* The trainer's place, session -1 before any is known; where fresh items
 * begin; who has an item, 0 for nobody; the number of items handed out; the
 * credit that is open, of all peers. */
struct wire_place flow_producer_place(const struct flow_producer *producer);
struct wire_place flow_producer_fresh(const struct flow_producer *producer);
uint64_t flow_producer_holder(const struct flow_producer *producer,
                              const struct wire_place *at);
size_t flow_producer_out(const struct flow_producer *producer);
size_t flow_producer_credit(const struct flow_producer *producer);

#endif
