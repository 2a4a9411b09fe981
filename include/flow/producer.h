#pragma once

#include "flow/event.h"

/*
 * The sending side of a plan: which items are wanted, which peer has which, and
 * which have to be handed out again.
 *
 * A producer is a state machine without socket and clock.  Its caller passes it
 * what peers sent and the time (`now`, in seconds from any start, never
 * decreasing), and asks it what to send to which peer.  flow/outlet.h connects
 * it to a socket.
 *
 *     snapshot  the newest one that a peer forwarded (struct wire_want): place,
 *               window, and what the consumer has of it.  A snapshot that no
 *               peer repeats for FLOW_LAPSE seconds, while peers send older
 *               ones, was false, and the next older one replaces it.  Once a
 *               peer has reported the end of the run, only a snapshot that is
 *               new from its peer can do so: a peer that lost the consumer
 *               repeats its last one
 *     book      the places of the window, from the first that is not trained.
 *               Each is free, leased to one peer, or at the consumer.  The
 *               caller adds them in the order of the plan, up to the last
 *               planned one
 *     lease     ends when the consumer has the batch or has trained it; is
 *               revoked when the peer is gone or late
 *     room      how many leases a peer may have at once; with room 0 it gives
 *               its leases back and is not late
 *
 * The lowest free place goes to the peer with the most free room; among equals,
 * to the least recently served.
 *
 * A peer is late when one of its leases is older than `lease` seconds and a
 * snapshot received after that still lacks the batch.  So a consumer that
 * computes for long, and makes no snapshot, costs no peer a lease.  After a
 * pause of this process, messages that it reads may be old.  So a snapshot
 * counts only from 0.1 s after flow_producer_late() noticed the expiry, and if
 * it is neither the first of its peer nor a repeated one.
 *
 * All leases of a late peer are revoked, and it is suspended: it receives
 * nothing for four times `lease`, when it is late again for eight, and so on.
 * After that it receives one item at a time, the highest that is wanted, until
 * it delivers one.  When all peers are late, all receive items as before.
 *
 * Places are compared by (epoch, step) within one session.  Memory: the peers,
 * and at most WIRE_WINDOW_MAX places.  Not thread-safe.
 */
struct flow_producer;

#define FLOW_LAPSE 3.0 /* s */

/* flow_producer_new() makes a producer with leases of `lease` > 0 s. */
struct flow_producer *flow_producer_new(double lease);
void flow_producer_free(struct flow_producer *producer);

/* flow_producer_join() adds a peer by its number > 0, which no other peer has.
 * flow_producer_leave() removes it and frees the places of its leases; returns
 * their number. */
void flow_producer_join(struct flow_producer *producer, uint64_t peer);
size_t flow_producer_leave(struct flow_producer *producer, uint64_t peer);

/*
 * flow_producer_on_snapshot() takes a snapshot that a peer forwarded.  Returns
 * the event for the caller (flow/event.h): FLOW_PROGRESS, FLOW_NEW_SESSION,
 * FLOW_REWOUND or FLOW_NOTHING.  After FLOW_NEW_SESSION and FLOW_REWOUND the
 * book is empty and begins at the snapshot's place.  FLOW_REPORT: nothing has
 * changed, and the peer is of another trainer, which still runs; once.
 */
enum flow_event_kind flow_producer_on_snapshot(struct flow_producer *producer,
                                               uint64_t peer,
                                               const struct wire_want *want,
                                               double now);

/* flow_producer_on_end() records a peer's report that the run is over. */
void flow_producer_on_end(struct flow_producer *producer, uint64_t peer,
                          const struct wire_place *at, double now);

/* flow_producer_on_refusal() records that a peer refused the item of a place.
 * If the peer has its lease, the lease is revoked, and the peer receives
 * nothing for a second, twice as long each time in a row, up to 32 s. */
void flow_producer_on_refusal(struct flow_producer *producer, uint64_t peer,
                              const struct wire_place *at, double now);

/*
 * flow_producer_needs_place() returns 1 while the book lacks places of the
 * window. flow_producer_add() adds the next place, `at`, for which the caller
 * has an item; `after` is the place after it.  It may skip places that the
 * consumer does not want any more.  flow_producer_close() marks the end of the
 * plan: there is no place from `end` on, and those before that are not in the
 * book are skipped.  After FLOW_NEW_SESSION and FLOW_REWOUND the book is open
 * again.
 */
int flow_producer_needs_place(const struct flow_producer *producer);
void flow_producer_add(struct flow_producer *producer,
                       const struct wire_place *at,
                       const struct wire_place *after);
void flow_producer_close(struct flow_producer *producer,
                         const struct wire_place *end);

/* flow_producer_next_item() returns 1 with a peer and the item to send to it,
 * or 0 when there is none.  flow_producer_mark_sent() records whether it was
 * sent; if not (sent = 0), the peer is skipped for 0.05 s. */
struct flow_send_item {
    uint64_t peer;
    struct wire_place at;
};
int flow_producer_next_item(const struct flow_producer *producer, double now,
                            struct flow_send_item *turn);
void flow_producer_mark_sent(struct flow_producer *producer,
                             const struct flow_send_item *turn, int sent,
                             double now);

/*
 * flow_producer_late() suspends a late peer: 1, or 0 when there is none.  Call
 * it when all pending messages are read.  flow_producer_due() returns the
 * seconds until something is due without any message, such as the end of a
 * lease; 1e9 for never.
 */
struct flow_late {
    uint64_t peer;
    struct wire_place at; /* the item that is late */
    size_t taken;         /* leases that were revoked */
    double lease, aside;  /* seconds of a lease; of the suspension */
};
int flow_producer_late(struct flow_producer *producer, double now,
                       struct flow_late *late);
double flow_producer_due(const struct flow_producer *producer, double now);

/*
 * When the plan ends within the window, flow_producer_next_unnotified() returns
 * a peer that wants items and has not been notified of the end in the last
 * second, or 0.  flow_producer_mark_notified() records whether the end was sent
 * to it.
 */
uint64_t flow_producer_next_unnotified(const struct flow_producer *producer,
                                       double now);
void flow_producer_mark_notified(struct flow_producer *producer, uint64_t peer,
                                 int sent, double now);

/*
 * flow_producer_over() returns 1 when the run is over: all peers, at least one,
 * reported the end; or one did, and the place has not changed for FLOW_QUIET
 * seconds since; or the place has been after the end of the plan for
 * FLOW_TRAINED seconds, which is longer than a false snapshot lasts.  So some
 * peers cannot end a run that others continue.
 */
#define FLOW_QUIET 30.0
#define FLOW_TRAINED 6.0
int flow_producer_over(const struct flow_producer *producer, double now);

/*
 * flow_producer_newest() returns the newest snapshot, flow_producer_place() its
 * place, session -1 before any is known; flow_producer_fresh() the first place
 * after those in the book; flow_producer_holder() the peer that has an item or
 * had it last, 0 for none; flow_producer_leases() the number of leases.
 * flow_producer_awaited_peer() returns the peer that has the item for which the
 * consumer waits, or 0 when it does not wait: a waiting consumer makes a
 * snapshot each second.
 */
const struct wire_want *
flow_producer_newest(const struct flow_producer *producer);
struct wire_place flow_producer_place(const struct flow_producer *producer);
struct wire_place flow_producer_fresh(const struct flow_producer *producer);
uint64_t flow_producer_holder(const struct flow_producer *producer,
                              const struct wire_place *at);
uint64_t flow_producer_awaited_peer(const struct flow_producer *producer,
                                    double now);
size_t flow_producer_leases(const struct flow_producer *producer);
