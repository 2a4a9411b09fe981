#ifndef FLOW_RELAY_H
#define FLOW_RELAY_H

#include "wire/next.h"

/*
 * The augmenter's place between a producer and a consumer: it gets items from
 * the producer, makes a batch of each, and brings it to the consumer.
 *
 * A relay is a state machine.  It has no socket and no clock: its caller tells
 * it what came and what time it is (`now`, in seconds from any start, never
 * going back), and asks it what is to be made and sent.  Items and batches are
 * pointers of the caller, never looked into.
 *
 * It keeps the consumer's newest snapshot and sends it on with a `room` of its
 * own: how many items it may have at once that are not made yet, and on top of
 * them those whose batch is on its way, which the producer counts until the
 * consumer has said that it has them.
 *
 * An item goes through these states, and leaves when it is trained or its
 * session is over:
 *
 *     waiting   it came.  The lowest that is wanted is made first
 *     making    its batch is being made
 *     made      its batch is not sent yet, and kept for as long as it is wanted
 *     sent      until the consumer says that it has the batch.  Where the
 *               connection is lost before, or the producer hands the item out
 *               again, the batch was lost, and the item is waiting again
 *
 * Memory: items of the consumer's window, batches of `room`; WIRE_WINDOW_MAX
 * items at most.  Not thread-safe.
 */
struct flow_relay;

/* flow_relay_new() makes a relay with a room of 1 .. WIRE_WINDOW_MAX items that
 * are waiting, in the making or made.  Before flow_relay_free(), take out all
 * by flow_relay_drop(). */
struct flow_relay *flow_relay_new(size_t room);
void flow_relay_free(struct flow_relay *relay);

/* flow_relay_next() books a snapshot of the consumer.  Returns 1 where it is
 * news; then call flow_relay_stale(). */
int flow_relay_next(struct flow_relay *relay, const struct wire_next *next);

/* flow_relay_forget() forgets the newest snapshot, which cannot be true: an
 * older one may be the next. */
void flow_relay_forget(struct flow_relay *relay);

/* flow_relay_met() says that the producer does not know us, or has forgotten
 * us: the snapshot is to be sent to it again. */
void flow_relay_met(struct flow_relay *relay);

/* flow_relay_lost() says that the connection to the consumer is a new one, so
 * that what was sent on the old one may be lost. */
void flow_relay_lost(struct flow_relay *relay);

/* flow_relay_take() keeps an item that came: 1; or 0 where it is not wanted or
 * already there, and then the caller releases it. */
int flow_relay_take(struct flow_relay *relay, const struct wire_place *at,
                    void *item);

/*
 * flow_relay_work() returns the item that is to be made next, and is in the
 * making from then on; or NULL where there is none, or `room` batches are kept
 * already.  flow_relay_made() hands in its batch, not NULL.  One at a time.
 */
void *flow_relay_work(struct flow_relay *relay);
void flow_relay_made(struct flow_relay *relay, void *batch);

/*
 * flow_relay_ready() returns the lowest batch that is to be sent, or NULL;
 * flow_relay_sent() books that it was sent, and the batch is the caller's
 * again.
 */
void *flow_relay_ready(const struct flow_relay *relay);
void flow_relay_sent(struct flow_relay *relay);

/*
 * flow_relay_stale() takes out an item that is not wanted any more and not in
 * the making, flow_relay_drop() any item.  Both return 1 with the item and its
 * batch, which are the caller's, the batch NULL where it has none; or 0 when
 * there is no such item.
 */
int flow_relay_stale(struct flow_relay *relay, void **item, void **batch);
int flow_relay_drop(struct flow_relay *relay, void **item, void **batch);

/*
 * flow_relay_turn() returns 1 with the snapshot that is to be sent to the
 * producer, or 0 when none is: the newest one, when it or the room has changed
 * and else each second; next->have is lent until the next flow_relay_next().
 * flow_relay_told() books that it was sent (sent = 1), or could not be.
 */
int flow_relay_turn(const struct flow_relay *relay, double now,
                    struct wire_next *next);
void flow_relay_told(struct flow_relay *relay, int sent, double now);

/* flow_relay_waits() returns 1 where the consumer waits, or soon will: the
 * batches that it says it has, and those that we have sent since, are less than
 * two. */
int flow_relay_waits(const struct flow_relay *relay);

/* flow_relay_place() returns the consumer's place, session -1 before any is
 * known; flow_relay_items() how many items are waiting or in the making;
 * flow_relay_kept() how many batches are made and not sent. */
struct wire_place flow_relay_place(const struct flow_relay *relay);
size_t flow_relay_items(const struct flow_relay *relay);
size_t flow_relay_kept(const struct flow_relay *relay);

#endif
