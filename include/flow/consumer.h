#ifndef FLOW_CONSUMER_H
#define FLOW_CONSUMER_H

#include "wire/next.h"

/*
 * Consuming the items of a plan in order: who is asked for how many, what has
 * come before its turn, and what to do when the item whose turn it is does not
 * come.
 *
 * A consumer is a state machine.  It has no socket and no clock: its caller
 * tells it what peers brought and what time it is (`now`, in seconds from any
 * start, never going back), and asks it what is to be sent to whom.
 * flow/inlet.h binds it to a socket.  What an item is, it does not know: an
 * item is a pointer of the caller, held until its turn has come.
 *
 *     place   of the item whose turn it is
 *     held    items that came before their turn
 *     room    so many items are welcome at a time, the held ones included
 *     credit  items that a peer still owes us: of the room that is left each
 *             peer gets an equal share, and one at least
 *
 * When the item whose turn it is does not come (flow_consumer_wait()), all room
 * and credit may be used up by items whose turn has not come.  Each second
 * each peer is told that we wait, so that the producer takes the item from a
 * peer that does not deliver it; and whoever gets it next must be able to ask
 * for it: peers without open credit get one each at first, and one of them each
 * second later.  As long as the first call brings what was missing, the next
 * that is missing is called for at once.
 *
 * Memory is bounded: four times the room and one item for each peer are held.
 * One more, and the farthest is dropped, to be asked for again when its turn
 * has come; the pause between calls doubles then.  Not thread-safe.
 */
struct flow_consumer;

/*
 * flow_consumer_new(): at `at`, its session included; where `waits`, peers are
 * told that we wait.  Take out what is held before flow_consumer_free():
 * flow_consumer_drop().
 */
struct flow_consumer *flow_consumer_new(const struct wire_place *at, int waits);
void flow_consumer_free(struct flow_consumer *consumer);

/* flow_consumer_join() enters a peer, by a number > 0, without credit;
 * flow_consumer_leave() takes it out. */
void flow_consumer_join(struct flow_consumer *consumer, uint64_t peer);
void flow_consumer_leave(struct flow_consumer *consumer, uint64_t peer);

/* flow_consumer_begin(): a newer session: credit and ends of before are
 * forgotten.  Take out what is held first: flow_consumer_drop(). */
void flow_consumer_begin(struct flow_consumer *consumer,
                         const struct wire_place *at);

/* flow_consumer_room() says how many items are welcome at a time. */
void flow_consumer_room(struct flow_consumer *consumer, size_t room);

/*
 * flow_consumer_came(): a peer brought an item, which uses up a credit: 1, or 0
 * when it had none.  Whatever the item is worth: it may be late, or the second.
 */
int flow_consumer_came(struct flow_consumer *consumer, uint64_t peer);

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
 * flow_consumer_due() returns the item of our place, or NULL when it has not
 * come; flow_consumer_take() the same, and it is the caller's again, and no
 * longer waited for.  flow_consumer_go() says which place is next; it may lie
 * before the last one.  flow_consumer_stale() takes out a held item before our
 * place, flow_consumer_drop() any; NULL when there is none.
 */
void *flow_consumer_due(const struct flow_consumer *consumer);
void *flow_consumer_take(struct flow_consumer *consumer);
void flow_consumer_go(struct flow_consumer *consumer,
                      const struct wire_place *at);
void *flow_consumer_stale(struct flow_consumer *consumer);
void *flow_consumer_drop(struct flow_consumer *consumer);

/* flow_consumer_item(): held item i < flow_consumer_held(), in no order. */
void *flow_consumer_item(const struct flow_consumer *consumer, size_t i);

/* flow_consumer_wait(): the item of our place has not come, and nothing else is
 * to be done.  Call it again and again; take() ends it. */
void flow_consumer_wait(struct flow_consumer *consumer, double now);

/*
 * flow_consumer_turn() says which peer is to be sent which next: 1, or 0 when
 * there is none now.  flow_consumer_asked() books that it was sent, or that it
 * could not be, and then the peer is passed over for 0.05 s.
 */
struct flow_ask {
    uint64_t peer;
    struct wire_next next;
};
int flow_consumer_turn(const struct flow_consumer *consumer, double now,
                       struct flow_ask *ask);
void flow_consumer_asked(struct flow_consumer *consumer,
                         const struct flow_ask *ask, int sent, double now);

/*
 * flow_consumer_end(): a peer says that nothing is at or after `at`, as far as
 * it knows.  flow_consumer_ended() tells how many of those that are there say
 * so of our place.
 */
enum flow_ended { FLOW_NONE_ENDED, FLOW_SOME_ENDED, FLOW_ALL_ENDED };
void flow_consumer_end(struct flow_consumer *consumer, uint64_t peer,
                       const struct wire_place *at);
enum flow_ended flow_consumer_ended(const struct flow_consumer *consumer);

/* Our place; the number of items held; the credit that is open with a peer, 0
 * where it is not there. */
struct wire_place flow_consumer_place(const struct flow_consumer *consumer);
size_t flow_consumer_held(const struct flow_consumer *consumer);
size_t flow_consumer_credit(const struct flow_consumer *consumer,
                            uint64_t peer);

#endif
