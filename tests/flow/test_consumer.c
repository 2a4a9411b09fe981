/*
 * A consumer in virtual time: which items it wants and holds, and its
 * snapshots.
 */
#include <string.h>

#include "flow/consumer.h"
#include "t.h"

static const struct wire_place start = {7, 0, 0};
static int thing[32];

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){7, k / 10, k % 10};
}

/* Holds the item of a place: 1 when it is stored and nothing is dropped. */
static int
hold(struct flow_consumer *c, int64_t k)
{
    const struct wire_place at = step(k);

    return flow_consumer_wants(c, &at) &&
           !flow_consumer_hold(c, &at, &thing[k]);
}

/* Sends all snapshots that are due: returns their number; *next is the last
 * one. */
static size_t
send_all(struct flow_consumer *c, double now, struct wire_want *last)
{
    struct flow_send_snapshot ask;
    size_t n = 0;

    for (; flow_consumer_next_snapshot(c, now, &ask); n++) {
        flow_consumer_mark_sent(c, &ask, 1, now);
        *last = ask.want;
    }
    return n;
}

static void
empty(struct flow_consumer *c)
{
    while (flow_consumer_drop(c))
        ;
    flow_consumer_free(c);
}

static int
lists(const struct wire_want *next, const char *held)
{
    size_t i = 0;

    for (; held[i]; i++)
        if (i >= next->n_have || next->have[2 * i] ||
            next->have[2 * i + 1] != held[i] - '0')
            return 0;
    return next->n_have == i;
}

static void
in_order(void)
{
    struct flow_consumer *c = flow_consumer_new(&start, 4, 1);
    const struct wire_place one = step(1), other = {6, 0, 1};

    T(hold(c, 2) && hold(c, 0) && hold(c, 3) && flow_consumer_held(c) == 3,
      "[consumer: batch that is wanted] items come out of order");
    T(!flow_consumer_wants(c, &other), "one of another session is not wanted");
    T(!hold(c, 2), "[consumer: batch of another session, trained, or there] "
                   "a held one is not wanted");
    T(flow_consumer_take(c) == &thing[0], "the first is handed out");
    T(!hold(c, 0) && !flow_consumer_take(c),
      "an item that was taken is neither wanted nor taken again");
    flow_consumer_set_place(c, &one);
    T(!hold(c, 0), "what is trained is not wanted");
    T(!flow_consumer_take(c) && hold(c, 1) &&
          flow_consumer_take(c) == &thing[1],
      "the next one arrives, and is handed out");
    T(flow_consumer_item(c, 0) == &thing[2] &&
          flow_consumer_item(c, 1) == &thing[3] &&
          flow_consumer_find(c, &(struct wire_place){7, 0, 3}) == &thing[3],
      "the others stay, in order");
    flow_consumer_set_place(c, &(struct wire_place){7, 0, 3});
    T(flow_consumer_stale(c) == &thing[2] && !flow_consumer_stale(c),
      "a skipped item is stale");
    empty(c);
}

static void
bounded(void)
{
    struct flow_consumer *c = flow_consumer_new(&start, 3, 1);
    const struct wire_place two = step(2), eight = step(8), nine = step(9),
                            zero = step(0);

    T(hold(c, 5) && hold(c, 7) && hold(c, 6), "a window is full");
    T(flow_consumer_hold(c, &nine, &thing[9]) == &thing[9],
      "one after it is dropped");
    T(flow_consumer_hold(c, &two, &thing[2]) == &thing[7],
      "[consumer: batch above window] one before it replaces the "
      "farthest");
    T(flow_consumer_hold(c, &zero, &thing[0]) == &thing[6] &&
          flow_consumer_take(c) == &thing[0],
      "the awaited one is always stored");
    T(flow_consumer_hold(c, &eight, &thing[8]) == &thing[8],
      "the one in training counts");
    empty(c);
}

static void
snapshots(uint64_t peers)
{
    struct flow_consumer *c = flow_consumer_new(&start, 4, 5);
    const struct wire_place one = step(1);
    struct wire_want next = {0};

    T(!send_all(c, 0, &next), "no peer, no snapshot");
    for (uint64_t i = 1; i <= peers; i++)
        flow_consumer_join(c, i);
    T(send_all(c, 0, &next) == peers && lists(&next, "") && next.serial == 5 &&
          next.window == 4 && next.room < 0,
      "all of %ju peers get the first snapshot", (uintmax_t)peers);
    T(!send_all(c, 0.9, &next) && send_all(c, 1, &next) == peers &&
          next.serial == 5,
      "[consumer: each second] the same snapshot again after a second");
    hold(c, 2);
    hold(c, 0);
    T(!send_all(c, 1.1, &next) && flow_consumer_due(c, 1.1) < 0.011 &&
          send_all(c, 1.12, &next) == peers && lists(&next, "02") &&
          next.serial == 6,
      "[consumer: have changed] changes at the same time share a snapshot");
    hold(c, 3);
    flow_consumer_take(c);
    T(send_all(c, 1.13, &next) == peers && lists(&next, "023") &&
          next.serial == 7,
      "[consumer: batch of the place] at once, when an item is due; "
      "the item in training counts");
    T(!send_all(c, 1.2, &next),
      "the same snapshot is not sent again before a second");
    flow_consumer_set_place(c, &one);
    T(send_all(c, 1.3, &next) == peers && lists(&next, "23") &&
          next.at.step == 1,
      "[consumer: place changed] a trained item is sent at once");
    empty(c);
}

static void
waits(uint64_t peers)
{
    struct flow_consumer *c = flow_consumer_new(&start, 4, 5);
    struct wire_want next = {0};

    for (uint64_t i = 1; i <= peers; i++)
        flow_consumer_join(c, i);
    hold(c, 2);
    hold(c, 3);
    T(send_all(c, 1.3, &next) == peers && next.serial == 5 &&
          lists(&next, "23"),
      "received items are sent");
    flow_consumer_mark_waiting(c, 2.2);
    T(!send_all(c, 2.2, &next), "no snapshot in the first second");
    flow_consumer_mark_waiting(c, 2.35);
    T(send_all(c, 2.35, &next) == peers && next.serial == 6 &&
          lists(&next, "23"),
      "[consumer: nothing else to be done] a new snapshot shows that nothing "
      "arrived");
    flow_consumer_resize(c, 6);
    T(send_all(c, 2.4, &next) == peers && next.window == 6,
      "another window is sent at once");
    flow_consumer_set_plan(c, "-b 4", "0a");
    T(send_all(c, 2.4, &next) == peers && !strcmp(next.plan, "-b 4") &&
          !strcmp(next.order, "0a"),
      "another plan is sent at once");
    flow_consumer_set_plan(c, "-b 4", "0a");
    T(!send_all(c, 2.4, &next), "the same plan is not");
    empty(c);
}

static void
peers_come(void)
{
    struct flow_consumer *c = flow_consumer_new(&start, 4, 1);
    struct wire_want next;
    struct flow_send_snapshot ask;

    flow_consumer_join(c, 1);
    T(flow_consumer_next_snapshot(c, 0, &ask) && ask.peer == 1,
      "a peer gets a snapshot");
    flow_consumer_mark_sent(c, &ask, 0, 0);
    T(!flow_consumer_next_snapshot(c, 0.04, &ask) &&
          flow_consumer_due(c, 0) < 0.06,
      "after a failed send: not at once again");
    T(send_all(c, 0.06, &next) == 1, "after a failed send: soon again");
    flow_consumer_join(c, 2);
    T(flow_consumer_next_snapshot(c, 0.1, &ask) && ask.peer == 2 &&
          ask.want.serial == next.serial,
      "[consumer: a peer joins] a later peer gets the newest");
    flow_consumer_leave(c, 2);
    T(!flow_consumer_next_snapshot(c, 0.1, &ask), "one that is gone gets none");
    flow_consumer_begin(c, &(struct wire_place){8, 0, 3});
    T(send_all(c, 0.2, &next) == 1 && next.at.session == 8 && next.at.step == 3,
      "a new session is sent at once");
    empty(c);
}

static void
nothing_before_a_session(void)
{
    const struct wire_place nowhere = {.session = -1};
    struct flow_consumer *c = flow_consumer_new(&nowhere, 4, 1);
    struct wire_want next;

    flow_consumer_join(c, 1);
    T(!send_all(c, 5, &next), "before a session is known nothing is sent");
    T(flow_consumer_due(c, 5) >= 1,
      "before a session is known nothing is due: no busy-wait");
    empty(c);
}

static void
ends(void)
{
    struct flow_consumer *c = flow_consumer_new(&start, 4, 1);
    const struct wire_place four = step(4), later = {6, 0, 0};

    flow_consumer_join(c, 1);
    flow_consumer_join(c, 2);
    flow_consumer_on_end(c, 1, &later);
    T(flow_consumer_ended(c) == FLOW_NONE_ENDED,
      "the end of another session is ignored");
    flow_consumer_on_end(c, 1, &four);
    T(flow_consumer_ended(c) == FLOW_NONE_ENDED,
      "an end that is ahead of us is ignored");
    flow_consumer_set_place(c, &four);
    T(flow_consumer_ended(c) == FLOW_SOME_ENDED, "one reports the end");
    flow_consumer_on_end(c, 2, &four);
    T(flow_consumer_ended(c) == FLOW_ALL_ENDED,
      "[consumer: end of all peers, at or before the place] all do");
    hold(c, 5);
    T(flow_consumer_ended(c) == FLOW_NONE_ENDED,
      "[consumer: batch behind an end] an item cancels it");
    flow_consumer_on_end(c, 1, &four);
    flow_consumer_leave(c, 1);
    T(flow_consumer_ended(c) == FLOW_SOME_ENDED,
      "a peer that left reported the end, the other did not");
    flow_consumer_leave(c, 2);
    T(flow_consumer_ended(c) == FLOW_ALL_ENDED, "no peer contradicts");
    empty(c);
}

int
main(void)
{
    in_order();
    bounded();
    snapshots(1);
    snapshots(3);
    snapshots(8);
    waits(1);
    waits(8);
    peers_come();
    nothing_before_a_session();
    ends();
    return t_done();
}
