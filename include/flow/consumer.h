#ifndef FLOW_CONSUMER_H
#define FLOW_CONSUMER_H

#include "wire/next.h"

/*
 * Consuming the items of a plan in order: which are wanted, which have come
 * before their turn, and which peers are told so.
 *
 * A consumer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers brought and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to which peer.
 * flow/inlet.h binds it to a socket.  What an item is, it does not know: an
 * item is a pointer of the caller, held until its turn has come.
 *
 *     place     the first step that is not trained
 *     window    so many items from our place on are welcome
 *     held      items that came, the one that is in training included
 *     snapshot  these three (struct wire_next), under a serial that rises
 *
 * A new snapshot is made when the place changes, 10 ms after what is held has,
 * and each second while the item of our place is waited for.  The newest goes
 * to each peer, and again each second.  So nothing adds up, and what is lost or
 * comes twice does no harm.  Make snapshots only after all is read that has
 * come: a producer takes what is not in them for not delivered.
 *
 * Memory is bounded: a window of items.  One more, and the farthest is dropped,
 * is not in the next snapshot, and so comes again.  Not thread-safe.
 */
struct flow_consumer;

/*
 * flow_consumer_new(): at `at`, its session included, with a window of 1 ..
 * WIRE_WINDOW_MAX.  The first snapshot has the serial `serial`, > 0;
 * a consumer that may start again within a session takes it from its clock.
 * Take out what is held before flow_consumer_free(): flow_consumer_drop().
 */
struct flow_consumer *flow_consumer_new(const struct wire_place *at,
                                        size_t window, int64_t serial);
void flow_consumer_free(struct flow_consumer *consumer);

/* flow_consumer_join() enters a peer, by a number > 0; flow_consumer_leave()
 * takes it out. */
void flow_consumer_join(struct flow_consumer *consumer, uint64_t peer);
void flow_consumer_leave(struct flow_consumer *consumer, uint64_t peer);

/* flow_consumer_begin(): a newer session: ends of before are forgotten.  Take
 * out what is held first: flow_consumer_drop(). */
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
 * flow_consumer_find() returns the held item of a place, or NULL;
 * flow_consumer_take() that of our place, and it is the caller's again, counts
 * as held until flow_consumer_go(), and is no longer waited for.
 * flow_consumer_go() says which place is next, also before the last one.
 * flow_consumer_stale() takes out a held item before our place,
 * flow_consumer_drop() any; NULL when there is none.
 */
void *flow_consumer_find(const struct flow_consumer *consumer,
                         const struct wire_place *at);
void *flow_consumer_take(struct flow_consumer *consumer);
void flow_consumer_go(struct flow_consumer *consumer,
                      const struct wire_place *at);
void *flow_consumer_stale(struct flow_consumer *consumer);
void *flow_consumer_drop(struct flow_consumer *consumer);

/* flow_consumer_item(): held item i < flow_consumer_held(), rising by place. */
void *flow_consumer_item(const struct flow_consumer *consumer, size_t i);

/* flow_consumer_wait(): all is read, the item of our place has not come, and
 * nothing else is to be done.  Call it again and again. */
void flow_consumer_wait(struct flow_consumer *consumer, double now);

/*
 * flow_consumer_turn() says which peer is to be sent which snapshot: 1, or 0
 * when there is none now; `have` is lent until the next call.
 * flow_consumer_asked() books that it was sent, or that it could not be, and
 * then the peer is passed over for 0.05 s.  flow_consumer_due() returns the
 * seconds until there may be one.
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
 * flow_consumer_end(): a peer says that nothing is at or after `at`, as far as
 * it knows, which an item that comes from there disproves.
 * flow_consumer_ended() tells how many of those that are there say so of our
 * place.
 */
enum flow_ended { FLOW_NONE_ENDED, FLOW_SOME_ENDED, FLOW_ALL_ENDED };
void flow_consumer_end(struct flow_consumer *consumer, uint64_t peer,
                       const struct wire_place *at);
enum flow_ended flow_consumer_ended(const struct flow_consumer *consumer);

/* Our place, public interface for a consumer that does not keep it itself; the
 * number of items held, but for one that was taken. */
struct wire_place flow_consumer_place(const struct flow_consumer *consumer);
size_t flow_consumer_held(const struct flow_consumer *consumer);

#endif
