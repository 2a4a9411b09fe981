#ifndef FLOW_CONSUMER_H
#define FLOW_CONSUMER_H

#include "wire/next.h"

/*
 * Consuming the items of a plan in order: which items are wanted, which have
 * come before their turn, and what each peer is told of that.
 *
 * A consumer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers brought and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to which peer.
 * flow/inlet.h binds it to a socket.  An item is a pointer of the caller that
 * is never looked into, held until its turn has come.
 *
 *     place     the first step that is not trained
 *     window    so many items from our place on are welcome
 *     held      items that came, the one that is in training included
 *     snapshot  these three (struct wire_next), under a serial that rises
 *
 * A new snapshot is made when the place changes, 10 ms after what is held has,
 * and each second while the item of our place is waited for.  The newest goes
 * to each peer, and again each second.  A snapshot is complete in itself: one
 * that is lost or comes twice does no harm.  Read all messages that have come
 * before flow_consumer_turn(): a producer takes an item that is not in a
 * snapshot for not delivered.
 *
 * Memory is bounded: a window of items.  Where one more comes, the farthest is
 * dropped, is not in the next snapshot, and so comes again.  Not thread-safe.
 */
struct flow_consumer;

/*
 * flow_consumer_new() makes a consumer whose place is `at`, its session
 * included, with a window of 1 .. WIRE_WINDOW_MAX.  The first snapshot has the
 * serial `serial`, > 0; a consumer that may start again within a session takes
 * it from its clock.  Before flow_consumer_free(), take out all items by
 * flow_consumer_drop().
 */
struct flow_consumer *flow_consumer_new(const struct wire_place *at,
                                        size_t window, int64_t serial);
void flow_consumer_free(struct flow_consumer *consumer);

/* flow_consumer_join() enters a peer, by a number > 0; flow_consumer_leave()
 * takes it out. */
void flow_consumer_join(struct flow_consumer *consumer, uint64_t peer);
void flow_consumer_leave(struct flow_consumer *consumer, uint64_t peer);

/* flow_consumer_begin() begins a newer session, that of `at`; what peers said
 * of the plan's end is forgotten.  Take out all items first, by
 * flow_consumer_drop(). */
void flow_consumer_begin(struct flow_consumer *consumer,
                         const struct wire_place *at);

/* flow_consumer_resize() sets the window anew; what is held stays. */
void flow_consumer_resize(struct flow_consumer *consumer, size_t window);

/* flow_consumer_wants() returns 1 where an item is of our session, not before
 * our place, and not held. */
int flow_consumer_wants(const struct flow_consumer *consumer,
                        const struct wire_place *at);

/*
 * flow_consumer_hold() keeps an item that is wanted.  Returns NULL, or an item
 * that there is no room for, this one or another: release it.
 */
void *flow_consumer_hold(struct flow_consumer *consumer,
                         const struct wire_place *at, void *item);

/*
 * flow_consumer_find() returns the held item of a place, or NULL.
 * flow_consumer_take() hands the item of our place back to the caller, or
 * returns NULL; in snapshots it counts as held until flow_consumer_go().
 * flow_consumer_go() sets our place, which may also be an earlier one.
 * flow_consumer_stale() takes out a held item before our place, and
 * flow_consumer_drop() any held item; NULL when there is none.
 */
void *flow_consumer_find(const struct flow_consumer *consumer,
                         const struct wire_place *at);
void *flow_consumer_take(struct flow_consumer *consumer);
void flow_consumer_go(struct flow_consumer *consumer,
                      const struct wire_place *at);
void *flow_consumer_stale(struct flow_consumer *consumer);
void *flow_consumer_drop(struct flow_consumer *consumer);

/* flow_consumer_item() returns held item i < flow_consumer_held(), in the order
 * of places. */
void *flow_consumer_item(const struct flow_consumer *consumer, size_t i);

/* flow_consumer_wait() says that the caller waits: all messages are read, and
 * the item of our place has not come.  Call it in each turn of the loop. */
void flow_consumer_wait(struct flow_consumer *consumer, double now);

/*
 * flow_consumer_turn() says which peer is to be sent which snapshot: 1, or 0
 * when none is due; ask->next.have is lent until the next call.
 * flow_consumer_asked() books that it was sent (sent = 1), or that it could not
 * be, and then the peer is passed over for 0.05 s.  flow_consumer_due() returns
 * the seconds until a snapshot may be due.
 */
struct flow_ask {
    uint64_t peer;
    struct wire_next next;
};
int flow_consumer_turn(struct flow_consumer *consumer, double now,
                       struct flow_ask *ask);
void flow_consumer_asked(struct flow_consumer *consumer,
                         const struct flow_ask *ask, int sent, double now);
double flow_consumer_due(const struct flow_consumer *consumer, double now);

/*
 * flow_consumer_end() books that a peer says that the plan has nothing at or
 * after `at`, as far as it knows; an item from there disproves it.
 * flow_consumer_ended() returns whether none, some or all of the joined peers
 * say so of our place.
 */
enum flow_ended { FLOW_NONE_ENDED, FLOW_SOME_ENDED, FLOW_ALL_ENDED };
void flow_consumer_end(struct flow_consumer *consumer, uint64_t peer,
                       const struct wire_place *at);
enum flow_ended flow_consumer_ended(const struct flow_consumer *consumer);

/* flow_consumer_place() returns our place, for a caller that does not keep it
 * itself; flow_consumer_held() the number of items held, a taken one not
 * counted. */
struct wire_place flow_consumer_place(const struct flow_consumer *consumer);
size_t flow_consumer_held(const struct flow_consumer *consumer);

#endif
