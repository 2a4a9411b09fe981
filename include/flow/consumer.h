#pragma once

#include "wire/progress.h"

/*
 * The receiving side of a plan: which items are wanted, which ones arrived
 * early, and what each peer has to know of that.
 *
 * A consumer is a state machine without socket and clock.  Its caller passes
 * it what peers sent and the time (`now`, in seconds from any start, never
 * decreasing), and asks it what to send to which peer.  flow/inlet.h connects
 * it to a socket.  An item is an opaque pointer of the caller, held until it is
 * due.
 *
 *     place     the first step that is not trained
 *     window    how many items are wanted, counted from our place
 *     held      items that arrived, including the one in training
 *     snapshot  these three (struct wire_want), with a rising serial
 *
 * A new snapshot is made when the place changes, 10 ms after the set of held
 * items changed, and each second while the item of our place is missing.  The
 * newest snapshot goes to each peer, and again each second.  A snapshot is
 * complete in itself: a lost or repeated one does no harm.  Read all pending
 * messages before flow_consumer_next_snapshot(): to a producer, an item that is
 * missing in a snapshot was not delivered.
 *
 * Memory is bounded by the window.  When it is full, the farthest item is
 * dropped; the next snapshot lacks it, so it is sent again.  Not thread-safe.
 */
struct flow_consumer;

/*
 * flow_consumer_new() makes a consumer at place `at`, session included, with a
 * window of 1 .. WIRE_WINDOW_MAX.  `serial` > 0 is that of the first snapshot;
 * a consumer that may restart within a session takes it from its clock.  Before
 * flow_consumer_free(), take out all items by flow_consumer_drop().
 */
struct flow_consumer *flow_consumer_new(const struct wire_place *at,
                                        size_t window, int64_t serial);
void flow_consumer_free(struct flow_consumer *consumer);

/* flow_consumer_join() adds a peer by its number > 0; flow_consumer_leave()
 * removes it. */
void flow_consumer_join(struct flow_consumer *consumer, uint64_t peer);
void flow_consumer_leave(struct flow_consumer *consumer, uint64_t peer);

/* flow_consumer_begin() switches to a newer session, that of `at`.  It forgets
 * which peers reported the end of the plan.  Take out all items first, by
 * flow_consumer_drop(). */
void flow_consumer_begin(struct flow_consumer *consumer,
                         const struct wire_place *at);

/* flow_consumer_resize() changes the window; held items remain. */
void flow_consumer_resize(struct flow_consumer *consumer, size_t window);

/* flow_consumer_wants() returns 1 for an item of our session that is not before
 * our place and not held. */
int flow_consumer_wants(const struct flow_consumer *consumer,
                        const struct wire_place *at);

/* flow_consumer_hold() stores a wanted item.  Returns NULL, or an item for
 * which there is no room, this one or another: the caller releases it. */
void *flow_consumer_hold(struct flow_consumer *consumer,
                         const struct wire_place *at, void *item);

/*
 * flow_consumer_find() returns the held item of a place, or NULL.
 * flow_consumer_take() returns the item of our place to the caller, or NULL;
 * snapshots list it as held until flow_consumer_set_place().
 * flow_consumer_set_place() sets our place, which may also move back, and
 * flow_consumer_set_plan() the plan and order of snapshots (wire/progress.h).
 * flow_consumer_stale() takes out a held item before our place, and
 * flow_consumer_drop() any held item; NULL when there is none.
 */
void *flow_consumer_find(const struct flow_consumer *consumer,
                         const struct wire_place *at);
void *flow_consumer_take(struct flow_consumer *consumer);
void flow_consumer_set_place(struct flow_consumer *consumer,
                             const struct wire_place *at);
void flow_consumer_set_plan(struct flow_consumer *consumer, const char *plan,
                            const char *order);
void *flow_consumer_stale(struct flow_consumer *consumer);
void *flow_consumer_drop(struct flow_consumer *consumer);

/* flow_consumer_item() returns held item i < flow_consumer_held(), in the order
 * of places. */
void *flow_consumer_item(const struct flow_consumer *consumer, size_t i);

/* flow_consumer_mark_waiting() notes that the caller waits: all messages are
 * read, and the item of our place is missing.  Call it in each turn of the
 * loop. */
void flow_consumer_mark_waiting(struct flow_consumer *consumer, double now);

/*
 * flow_consumer_next_snapshot() returns 1 with a peer and the snapshot to send
 * to it, or 0 when none is due.  ask->want.have is valid until the next call.
 * flow_consumer_mark_sent() records whether it was sent; if not (sent = 0), the
 * peer is skipped for 0.05 s.  flow_consumer_due() returns the seconds until a
 * snapshot may be due.
 */
struct flow_send_snapshot {
    uint64_t peer;
    struct wire_want want;
};
int flow_consumer_next_snapshot(struct flow_consumer *consumer, double now,
                                struct flow_send_snapshot *ask);
void flow_consumer_mark_sent(struct flow_consumer *consumer,
                             const struct flow_send_snapshot *ask, int sent,
                             double now);
double flow_consumer_due(const struct flow_consumer *consumer, double now);

/*
 * flow_consumer_on_end() records a peer's report that the plan, as far as that
 * peer knows, has nothing at or after `at`; an item from there cancels the
 * report.  flow_consumer_ended() returns whether none, some or all of the
 * joined peers report this for our place.
 */
enum flow_ended { FLOW_NONE_ENDED, FLOW_SOME_ENDED, FLOW_ALL_ENDED };
void flow_consumer_on_end(struct flow_consumer *consumer, uint64_t peer,
                          const struct wire_place *at);
enum flow_ended flow_consumer_ended(const struct flow_consumer *consumer);

/* flow_consumer_place() returns our place, flow_consumer_held() the number of
 * held items without a taken one. */
struct wire_place flow_consumer_place(const struct flow_consumer *consumer);
size_t flow_consumer_held(const struct flow_consumer *consumer);
