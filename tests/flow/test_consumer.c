/*
 * A consumer in virtual time: what it asks for, holds and drops.
 */
#include "flow/consumer.h"
#include "t.h"

static const struct wire_place start = {7, 0, 0};

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){7, k / 10, k % 10};
}

/* Items are numbers: an item's pointer points at its own. */
static int64_t number[100];

static void *
hold(struct flow_consumer *c, int64_t k)
{
    const struct wire_place at = step(k);

    number[k] = k;
    return flow_consumer_wants(c, &at) ? flow_consumer_hold(c, &at, &number[k])
                                       : NULL;
}

/* What is asked of a peer at a time; the waits that were said in *waits. */
static size_t
ask(struct flow_consumer *c, uint64_t peer, double now, int *waits)
{
    struct flow_ask ask;
    size_t credit = 0;

    *waits = 0;
    while (flow_consumer_turn(c, now, &ask)) {
        if (ask.peer == peer)
            credit += (size_t)ask.next.credit;
        *waits += ask.next.waits;
        flow_consumer_asked(c, &ask, 1, now);
    }
    return credit;
}

static struct flow_consumer *
with_peers(uint64_t peers, size_t room)
{
    struct flow_consumer *c = flow_consumer_new(&start, 1);

    flow_consumer_room(c, room);
    for (uint64_t i = 1; i <= peers; i++)
        flow_consumer_join(c, i);
    return c;
}

static void
end(struct flow_consumer *c)
{
    while (flow_consumer_drop(c))
        continue;
    flow_consumer_free(c);
}

static void
shares(uint64_t peers, size_t room, size_t each)
{
    struct flow_consumer *c = with_peers(peers, room);
    int waits;

    T(ask(c, peers, 0, &waits) == each, "of %ju peers each is asked for %zu",
      (uintmax_t)peers, each);
    T(flow_consumer_credit(c, 1) == each && !waits, "which is booked");
    T(ask(c, peers, 0, &waits) == 0, "nothing is asked for twice");
    end(c);
}

static void
in_order(void)
{
    struct flow_consumer *c = with_peers(1, 8);
    const struct wire_place other = {6, 0, 3}, next = step(1);
    int waits;

    ask(c, 1, 0, &waits);
    T(!hold(c, 1) && !hold(c, 2) && !flow_consumer_due(c),
      "two items come before their turn");
    T(!hold(c, 0) && flow_consumer_take(c) == &number[0], "then the first");
    flow_consumer_go(c, &next);
    T(!flow_consumer_wants(c, &start), "what was consumed is not wanted again");
    T(!flow_consumer_wants(c, &next), "nor is what is held");
    T(!flow_consumer_wants(c, &other), "nor is an item of another session");
    T(flow_consumer_take(c) == &number[1] && !flow_consumer_due(c),
      "items come out in the order of the plan");
    T(flow_consumer_came(c, 1) && flow_consumer_credit(c, 1) == 7,
      "what comes uses up a credit");
    for (int i = 0; i < 7; i++)
        flow_consumer_came(c, 1);
    T(!flow_consumer_came(c, 1) && !flow_consumer_came(c, 9),
      "what comes without credit, or from nobody, was not asked for");
    flow_consumer_go(c, &(struct wire_place){7, 5, 0});
    T(flow_consumer_stale(c) == &number[2] && !flow_consumer_stale(c),
      "what the run has gone past is handed back");
    end(c);
}

/* Three peers, whose credit is used up by items whose turn has not come. */
static void
starved(void)
{
    struct flow_consumer *c = with_peers(3, 3);
    int waits;

    ask(c, 1, 0, &waits);
    for (int k = 1; k <= 3; k++) {
        flow_consumer_came(c, (uint64_t)k);
        hold(c, k);
    }
    flow_consumer_wait(c, 10);
    T(ask(c, 1, 10, &waits) == 0 && !waits, "the room is used up");
    flow_consumer_wait(c, 10.9);
    T(ask(c, 1, 10.9, &waits) == 0, "nothing happens for a second");
    flow_consumer_wait(c, 11);
    T(ask(c, 1, 11, &waits) == 1 && waits == 3,
      "then all are told that we wait, and get a credit each");
    T(flow_consumer_credit(c, 2) == 1 && flow_consumer_credit(c, 3) == 1,
      "so that whoever gets the item can ask for it");
    flow_consumer_wait(c, 12);
    T(ask(c, 1, 12, &waits) == 0 && waits == 3, "said again each second");
    hold(c, 0);
    T(flow_consumer_take(c) == &number[0], "it comes by the second call");
    flow_consumer_go(c, &(struct wire_place){7, 0, 4});
    flow_consumer_wait(c, 20);
    ask(c, 1, 20, &waits);
    T(!waits, "the next that is missing is waited for first");
    flow_consumer_wait(c, 21);
    ask(c, 1, 21, &waits);
    hold(c, 4);
    flow_consumer_take(c);
    flow_consumer_go(c, &(struct wire_place){7, 0, 5});
    flow_consumer_wait(c, 30);
    ask(c, 1, 30, &waits);
    T(waits == 3, "but called for at once where the first call helped");
    end(c);
}

static void
one_each_second(void)
{
    struct flow_consumer *c = with_peers(3, 3);
    size_t credit = 0;
    int waits;

    hold(c, 5);
    hold(c, 6);
    hold(c, 7);
    flow_consumer_wait(c, 0);
    flow_consumer_wait(c, 1);
    ask(c, 1, 1, &waits);
    for (uint64_t i = 1; i <= 3; i++)
        flow_consumer_came(c, i);
    flow_consumer_wait(c, 2);
    ask(c, 1, 2, &waits);
    for (uint64_t i = 1; i <= 3; i++)
        credit += flow_consumer_credit(c, i);
    T(credit == 1, "after the first call one peer gets one a second");
    flow_consumer_leave(c, 2);
    flow_consumer_wait(c, 2.1);
    ask(c, 1, 2.1, &waits);
    T(flow_consumer_credit(c, 1) + flow_consumer_credit(c, 3) == 2,
      "who leaves may have had it: called for at once, of all");
    end(c);
}

/* A filter says nothing of waiting: the trainer does. */
static void
silent(void)
{
    struct flow_consumer *c = flow_consumer_new(&start, 0);
    int waits;

    flow_consumer_room(c, 1);
    flow_consumer_join(c, 1);
    hold(c, 3);
    flow_consumer_wait(c, 0);
    flow_consumer_wait(c, 1);
    T(ask(c, 1, 1, &waits) == 1 && !waits,
      "a credit beyond the room, and no word of waiting");
    flow_consumer_wait(c, 2);
    T(ask(c, 1, 2, &waits) == 0, "none more while that one is open");
    end(c);
}

/* A peer that brings what nobody waits for. */
static void
bounded(void)
{
    struct flow_consumer *c = with_peers(2, 2);
    int64_t *dropped;

    for (int64_t k = 10; k < 20; k++)
        hold(c, k);
    T(flow_consumer_held(c) == 10, "four times the room and one a peer");
    T(hold(c, 30) == &number[30], "what is farther than all is not held");
    dropped = hold(c, 5);
    T(dropped && *dropped == 19, "what is nearer takes the farthest's place");
    T(!hold(c, 0) && flow_consumer_held(c) == 11,
      "the one whose turn it is always has room");
    T(flow_consumer_take(c) == &number[0], "and is taken");
    end(c);
}

static void
ends(void)
{
    const struct wire_place two = step(2);
    struct flow_consumer *c = with_peers(3, 3);
    int waits;

    T(flow_consumer_ended(c) == FLOW_NONE_ENDED, "nobody says end");
    flow_consumer_end(c, 1, &two);
    T(flow_consumer_ended(c) == FLOW_NONE_ENDED, "an end that is ahead of us");
    flow_consumer_go(c, &two);
    T(flow_consumer_ended(c) == FLOW_SOME_ENDED, "we have come to it");
    ask(c, 1, 0, &waits);
    flow_consumer_end(c, 2, &two);
    flow_consumer_end(c, 3, &two);
    T(flow_consumer_ended(c) == FLOW_ALL_ENDED, "all three say so");
    flow_consumer_came(c, 3);
    T(flow_consumer_ended(c) == FLOW_SOME_ENDED,
      "who brings more takes it back");
    flow_consumer_leave(c, 3);
    flow_consumer_leave(c, 2);
    T(flow_consumer_ended(c) == FLOW_ALL_ENDED,
      "of those that are there all do");
    flow_consumer_leave(c, 1);
    T(flow_consumer_ended(c) == FLOW_ALL_ENDED,
      "who leaves after its end has still said it");
    flow_consumer_begin(c, &(struct wire_place){8, 0, 0});
    T(flow_consumer_ended(c) == FLOW_NONE_ENDED, "a new session has no end");
    end(c);
}

static void
unreachable(void)
{
    struct flow_consumer *c = with_peers(1, 2);
    struct flow_ask ask;

    T(flow_consumer_turn(c, 0, &ask) && ask.next.credit == 2, "two are asked");
    flow_consumer_asked(c, &ask, 0, 0);
    T(flow_consumer_credit(c, 1) == 0 && !flow_consumer_turn(c, 0.04, &ask),
      "who cannot be sent to owes nothing, and is passed over");
    T(flow_consumer_turn(c, 0.06, &ask) && ask.next.credit == 2,
      "for a moment");
    end(c);
}

int
main(void)
{
    shares(1, 8, 8);
    shares(3, 8, 2);
    shares(8, 8, 1);
    shares(8, 3, 1);
    in_order();
    starved();
    one_each_second();
    silent();
    bounded();
    ends();
    unreachable();
    return t_done();
}
