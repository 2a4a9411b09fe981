#ifndef FLOW_RELAY_H
#define FLOW_RELAY_H

#include "wire/next.h"

/*
 * Between a producer and a consumer: an augmenter, which gets items from the
 * one, makes a batch of each and brings it to the other.
 *
 * A relay is a state machine.  It has no socket and no clock: its caller tells
 * it what came and what time it is (`now`, in seconds from any start, never
 * going back), and asks it what is to be made and sent.  What items and batches
 * are it does not know: they are pointers of the caller.
 *
 * It keeps the consumer's newest snapshot and sends it on with a `room` of its
 * own: so many items at once are not made yet.  Those whose batch is on its way
 * come on top, as the producer counts them until the consumer has said that it
 * has them.  Nothing else is counted.
 *
 * An item goes through these states, and out where it is trained or its session
 * is over:
 *
 *     waiting   it came.  The lowest that is wanted is made first
 *     making    it is being made
 *     made      its batch cannot be sent yet: kept for as long as it is wanted
 *     sent      until the consumer says that it has it.  Where the connection
 * is lost meanwhile, or the producer hands it out again, the batch was lost: it
 * waits again
 *
 * Memory: items of the consumer's window, batches of `room`; WIRE_WINDOW_MAX
 * items at most.  Not thread-safe.
 */
struct flow_relay;

/* flow_relay_new(): so many items at once are waiting, in the making or made,
 * 1 .. WIRE_WINDOW_MAX.  Take out all before flow_relay_free():
 * flow_relay_drop(). */
struct flow_relay *flow_relay_new(size_t room);
void flow_relay_free(struct flow_relay *relay);

/* flow_relay_next(): the consumer said so.  Returns 1 where that is new; then
 * take out what is stale. */
int flow_relay_next(struct flow_relay *relay, const struct wire_next *next);

/* flow_relay_met(): the producer does not know us, or has forgotten us: it is
 * to be told anew. */
void flow_relay_met(struct flow_relay *relay);

/* flow_relay_lost(): the connection to the consumer is a new one, and what was
 * sent on the old one may be lost. */
void flow_relay_lost(struct flow_relay *relay);

/* flow_relay_take() keeps an item that came: 1, or 0 where it is not wanted or
 * there already, and then it is the caller's to release. */
int flow_relay_take(struct flow_relay *relay, const struct wire_place *at,
                    void *item);

/*
 * flow_relay_work() returns the item that is to be made next, which is in the
 * making then, or NULL: there is none, or `room` batches are kept already.
 * flow_relay_made() says what became of it.  One at a time.
 */
void *flow_relay_work(struct flow_relay *relay);
void flow_relay_made(struct flow_relay *relay, void *batch);

/*
 * flow_relay_ready() returns the lowest batch that is to be sent, or NULL;
 * flow_relay_sent() books that it was, and it is the caller's.
 */
void *flow_relay_ready(const struct flow_relay *relay);
void flow_relay_sent(struct flow_relay *relay);

/*
 * flow_relay_stale() takes out what is not wanted any more, but nothing that is
 * in the making; flow_relay_drop() takes out anything.  1 with an item and its
 * batch, NULL where there is none; 0 when there is nothing.
 */
int flow_relay_stale(struct flow_relay *relay, void **item, void **batch);
int flow_relay_drop(struct flow_relay *relay, void **item, void **batch);

/*
 * flow_relay_turn() says what is to be sent to the producer: 1, or 0 when that
 * is nothing now.  The newest snapshot, when it or the room is new and else
 * each second; have is lent until the next flow_relay_next(). flow_relay_told()
 * books that it was sent, or could not be.
 */
int flow_relay_turn(const struct flow_relay *relay, double now,
                    struct wire_next *next);
void flow_relay_told(struct flow_relay *relay, int sent, double now);

/* flow_relay_waits() returns 1 where the consumer waits, or soon will: of the
 * batches that it has said it has, and those that we have sent since, it has
 * less than two. */
int flow_relay_waits(const struct flow_relay *relay);

/* flow_relay_place() is the consumer's, session -1 before any is known;
 * flow_relay_items() items are waiting or in the making, flow_relay_kept()
 * batches are made and not sent. */
struct wire_place flow_relay_place(const struct flow_relay *relay);
size_t flow_relay_items(const struct flow_relay *relay);
size_t flow_relay_kept(const struct flow_relay *relay);

#endif
