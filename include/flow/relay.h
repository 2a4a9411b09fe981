#pragma once

#include "wire/progress.h"

/*
 * The augmenter between a producer and a consumer: it receives items from the
 * producer, makes a batch of each, and sends it to the consumer.
 *
 * A relay is a state machine without socket and clock.  Its caller passes it
 * what was received and the time (`now`, in seconds from any start, never
 * decreasing), and asks it what to make and to send.  Items and batches are
 * opaque pointers of the caller.
 *
 * The relay forwards the consumer's newest snapshot to the producer with a
 * `room` of its own: how many unfinished items it may have at once, plus the
 * items whose batch is in transit, which the producer counts until the consumer
 * confirms them.
 *
 * An item has these states, and is removed when it is trained or its session is
 * over:
 *
 *     waiting   received.  The lowest wanted item is made first
 *     making    its batch is being made
 *     made      its batch is not sent yet, and stored while it is wanted
 *     sent      until the consumer confirms the batch.  If the connection is
 *               lost before, or the producer hands the item out again, the
 *               batch was lost, and the item is waiting again
 *
 * Memory: items of the consumer's window, batches of `room`; WIRE_WINDOW_MAX
 * items at most.  Not thread-safe.
 */
struct flow_relay;

/* flow_relay_new() makes a relay with room for 1 .. WIRE_WINDOW_MAX items that
 * are waiting, being made or made.  Before flow_relay_free(), take out all
 * items by flow_relay_drop(). */
struct flow_relay *flow_relay_new(size_t room);
void flow_relay_free(struct flow_relay *relay);

/* flow_relay_on_snapshot() takes a snapshot of the consumer.  Returns 1 when it
 * is newer than ours; then call flow_relay_stale(). */
int flow_relay_on_snapshot(struct flow_relay *relay,
                           const struct wire_want *want);

/* flow_relay_forget() discards the newest snapshot, which cannot be true; the
 * next one may be older. */
void flow_relay_forget(struct flow_relay *relay);

/* flow_relay_resend_snapshot() has the snapshot sent again, to a producer that
 * does not know us any more. */
void flow_relay_resend_snapshot(struct flow_relay *relay);

/* flow_relay_on_reconnect() records a new connection to the consumer: what was
 * sent on the old one may be lost. */
void flow_relay_on_reconnect(struct flow_relay *relay);

/* flow_relay_take() stores a received item: 1; or 0 when it is not wanted or
 * already stored, and then the caller releases it. */
int flow_relay_take(struct flow_relay *relay, const struct wire_place *at,
                    void *item);

/*
 * flow_relay_work() returns the item to be made next and marks it as being
 * made; or NULL when there is none, or `room` made batches are not sent yet.
 * flow_relay_made() stores its batch, not NULL.  One at a time.
 * flow_relay_next() returns the same item without a mark.
 *
 * While the relay is paused, its snapshots say room 0: it waits for the data of
 * an item, which it keeps, and the producer hands its items out to others.
 */
const void *flow_relay_next(const struct flow_relay *relay);
void flow_relay_pause(struct flow_relay *relay, int paused);
void *flow_relay_work(struct flow_relay *relay);
void flow_relay_made(struct flow_relay *relay, void *batch);

/* flow_relay_ready() returns the lowest batch to be sent, or NULL.
 * flow_relay_mark_batch_sent() records that it was sent; the batch is the
 * caller's again. */
void *flow_relay_ready(const struct flow_relay *relay);
void flow_relay_mark_batch_sent(struct flow_relay *relay);

/*
 * flow_relay_stale() takes out an item that is not wanted any more and not
 * being made, flow_relay_drop() any item.  Both return 1 with the item and its
 * batch, or NULL for no batch, which the caller owns then; or 0 when there is
 * no such item.
 */
int flow_relay_stale(struct flow_relay *relay, void **item, void **batch);
int flow_relay_drop(struct flow_relay *relay, void **item, void **batch);

/*
 * flow_relay_next_snapshot() returns 1 with the snapshot to send to the
 * producer, or 0 when none is due: the newest one, at once when it or the room
 * has changed, else each second.  want->have is valid until the next
 * flow_relay_on_snapshot(). flow_relay_mark_snapshot_sent() records whether it
 * was sent.
 */
int flow_relay_next_snapshot(const struct flow_relay *relay, double now,
                             struct wire_want *want);
void flow_relay_mark_snapshot_sent(struct flow_relay *relay, int sent,
                                   double now);

/* flow_relay_consumer_waits() returns 1 when the consumer waits or soon will:
 * the batches that it has, with those that we have sent since its snapshot, are
 * fewer than two. */
int flow_relay_consumer_waits(const struct flow_relay *relay);

/* flow_relay_place() returns the consumer's place, session -1 before any is
 * known; flow_relay_items() the number of items that are waiting or being made;
 * flow_relay_unsent() the number of batches that are made and not sent. */
struct wire_place flow_relay_place(const struct flow_relay *relay);
size_t flow_relay_items(const struct flow_relay *relay);
size_t flow_relay_unsent(const struct flow_relay *relay);
