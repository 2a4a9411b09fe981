/*
 * A relay in virtual time: what is made, stored and sent.
 */
#include "flow/relay.h"
#include "t.h"

static int item[32], batch[32];

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){7, k / 10, k % 10};
}

/* A snapshot of the consumer: place k, holding the digits. */
static int
next(struct flow_relay *r, int64_t serial, int64_t k, const char *held)
{
    int64_t have[8][2];
    struct wire_want content = {
        .at = step(k), .serial = serial, .window = 8, .have = have[0]};

    for (; held[content.n_have]; content.n_have++) {
        have[content.n_have][0] = 0;
        have[content.n_have][1] = held[content.n_have] - '0';
    }
    return flow_relay_on_snapshot(r, &content);
}

static int
take(struct flow_relay *r, int64_t k)
{
    const struct wire_place at = step(k);

    return flow_relay_take(r, &at, &item[k]);
}

/* Makes the next item: which, or -1. */
static int
make(struct flow_relay *r)
{
    const int *what = flow_relay_work(r);

    if (!what)
        return -1;
    flow_relay_made(r, &batch[what - item]);
    return (int)(what - item);
}

static int
send_one(struct flow_relay *r)
{
    const int *what = flow_relay_ready(r);

    if (!what)
        return -1;
    flow_relay_mark_batch_sent(r);
    return (int)(what - batch);
}

static size_t
stale(struct flow_relay *r)
{
    void *one, *two;
    size_t n = 0;

    while (flow_relay_stale(r, &one, &two))
        n++;
    return n;
}

static void
empty(struct flow_relay *r)
{
    void *one, *two;

    while (flow_relay_drop(r, &one, &two))
        ;
    flow_relay_free(r);
}

/* The room that is sent now, or 0 when nothing is due. */
static int64_t
content(struct flow_relay *r, double now)
{
    struct wire_want out;

    if (!flow_relay_next_snapshot(r, now, &out))
        return 0;
    flow_relay_mark_snapshot_sent(r, 1, now);
    return out.room;
}

static void
lowest_first(void)
{
    struct flow_relay *r = flow_relay_new(4);

    T(!take(r, 3) && flow_relay_place(r).session == -1,
      "before the consumer is known no item is stored");
    T(next(r, 1, 0, "") && take(r, 3) && take(r, 1) && take(r, 2),
      "[relay: item] items of a known consumer are stored");
    T(!take(r, 1), "each once");
    T(make(r) == 1 && make(r) == 2, "[relay: items wait] the lowest is made "
                                    "first");
    next(r, 2, 0, "3");
    T(make(r) == -1,
      "[relay: want, newer] no batch is made that the consumer has");
    next(r, 3, 0, "");
    T(make(r) == 3, "a batch that the consumer dropped is made");
    T(send_one(r) == 1 && send_one(r) == 2 && send_one(r) == 3 &&
          send_one(r) == -1,
      "[relay: batches are made] the lowest is sent first");
    empty(r);
}

static void
what_is_old(void)
{
    struct flow_relay *r = flow_relay_new(4);
    const struct wire_place other = {6, 0, 5};

    next(r, 5, 4, "");
    T(!take(r, 3) && !flow_relay_take(r, &other, &item[5]),
      "[relay: item that is trained, of another session, or there] an item "
      "that is trained, or of another session, is not stored");
    T(!next(r, 5, 6, "") && !next(r, 4, 6, "") && flow_relay_place(r).step == 4,
      "[relay: want, older] a snapshot that is not newer changes nothing");
    take(r, 4);
    take(r, 5);
    take(r, 6);
    make(r);
    next(r, 6, 4, "46");
    T(stale(r) == 1 && send_one(r) == -1,
      "[relay: place in have] a batch that the consumer has is dropped; an "
      "item "
      "remains");
    next(r, 7, 6, "");
    T(stale(r) == 1 && make(r) == 6, "[relay: place trained] until it is "
                                     "trained");
    flow_relay_on_snapshot(
        r, &(struct wire_want){.at = {8, 0, 0}, .serial = 1, .window = 8});
    T(stale(r) == 1 && flow_relay_place(r).session == 8,
      "all of an earlier session is dropped");
    empty(r);
}

static void
in_the_making(void)
{
    struct flow_relay *r = flow_relay_new(4);

    next(r, 1, 0, "");
    take(r, 0);
    T(flow_relay_work(r) == &item[0], "an item is in the making");
    next(r, 2, 3, "");
    T(!stale(r), "a trained item in the making is not dropped");
    flow_relay_made(r, &batch[0]);
    T(send_one(r) == -1 && stale(r) == 1,
      "once it is made, a trained batch is dropped");
    empty(r);
}

/* While an item of the last session is being made, the one of this session
 * for the same place arrives. */
static void
in_the_making_of_before(void)
{
    const struct wire_want later = {
        .at = {8, 0, 0}, .serial = 1, .window = 8, .n_have = 0};
    const struct wire_place zero = {8, 0, 0};
    struct flow_relay *r = flow_relay_new(4);

    next(r, 1, 0, "");
    take(r, 0);
    flow_relay_work(r);
    flow_relay_on_snapshot(r, &later);
    T(flow_relay_take(r, &zero, &item[1]),
      "an item is stored while its place is made for a session that is over");
    flow_relay_made(r, &batch[0]);
    T(stale(r) == 1 && make(r) == 1 && send_one(r) == 1,
      "the stored item is made next");
    empty(r);
}

static void
room(void)
{
    struct flow_relay *r = flow_relay_new(2);

    T(!content(r, 0), "nothing is sent before the consumer is known");
    next(r, 1, 0, "");
    T(content(r, 0) == 2 && !content(r, 0.9) && content(r, 1) == 2,
      "[relay: each second] the room is sent, and again after a second");
    take(r, 0);
    take(r, 1);
    make(r);
    T(!content(r, 1.1), "an item that is made changes nothing");
    send_one(r);
    T(content(r, 1.2) == 3, "[relay: newer want, or other room] a sent one "
                            "makes room for another");
    take(r, 2);
    make(r);
    send_one(r);
    T(content(r, 1.3) == 4, "the next sent one makes room for another");
    next(r, 2, 0, "0");
    stale(r);
    T(content(r, 1.4) == 3,
      "room is taken back when the consumer has the batch");
    flow_relay_resend_snapshot(r);
    T(content(r, 1.5) == 3, "[relay: greeted by the producer] a producer that "
                            "forgot us gets the snapshot at once");
    empty(r);
}

static void
cannot_be_sent(void)
{
    struct flow_relay *r = flow_relay_new(2);
    struct wire_want out;

    next(r, 1, 0, "");
    T(flow_relay_next_snapshot(r, 0, &out), "a snapshot is due");
    flow_relay_mark_snapshot_sent(r, 0, 0);
    T(!flow_relay_next_snapshot(r, 0.04, &out) &&
          flow_relay_next_snapshot(r, 0.06, &out),
      "after a failed send: soon again");
    for (int k = 0; k < 4; k++)
        take(r, k);
    T(make(r) == 0 && make(r) == 1 && make(r) == -1 &&
          flow_relay_unsent(r) == 2,
      "no more batches are stored than there is room for");
    T(flow_relay_items(r) == 2, "the other items wait");
    T(send_one(r) == 0 && make(r) == 2, "one is sent, one more is made");
    empty(r);
}

static void
lost(void)
{
    struct flow_relay *r = flow_relay_new(2);

    next(r, 1, 0, "");
    take(r, 0);
    take(r, 1);
    make(r);
    send_one(r);
    make(r);
    send_one(r);
    T(make(r) == -1, "all is sent");
    T(!take(r, 1) && make(r) == 1, "[relay: item whose batch is sent] an item "
                                   "handed out again is made again");
    send_one(r);
    next(r, 2, 0, "1");
    stale(r);
    flow_relay_on_reconnect(r);
    T(make(r) == 0 && make(r) == -1,
      "[relay: connection to the consumer renewed] after the connection was "
      "lost, all missing batches are");
    empty(r);
}

static void
waits_are_known(void)
{
    struct flow_relay *r = flow_relay_new(8);

    T(!flow_relay_consumer_waits(r), "an unknown consumer does not wait");
    next(r, 1, 0, "");
    T(flow_relay_consumer_waits(r), "one that has nothing waits");
    for (int k = 0; k < 3; k++)
        take(r, k);
    make(r);
    send_one(r);
    T(flow_relay_consumer_waits(r), "with one batch in transit it soon will");
    make(r);
    send_one(r);
    T(!flow_relay_consumer_waits(r), "with two it does not");
    next(r, 2, 0, "01");
    T(!flow_relay_consumer_waits(r), "a consumer that has both does not wait");
    next(r, 3, 1, "1");
    T(flow_relay_consumer_waits(r), "one is trained: it will again");
    next(r, 4, 1, "13");
    T(!flow_relay_consumer_waits(r), "whichever relays the others are from");
    empty(r);
}

/* The clock was set back, and the trainer has begun an older session. */
static void
forgets(void)
{
    struct flow_relay *r = flow_relay_new(2);
    struct wire_want older = {.at = {6, 0, 0}, .serial = 1, .window = 8};
    void *it, *made;

    next(r, 9, 0, "");
    take(r, 1);
    T(!flow_relay_on_snapshot(r, &older), "an older session changes nothing");
    flow_relay_forget(r);
    T(flow_relay_on_snapshot(r, &older) && flow_relay_place(r).session == 6,
      "[relay: want, older, where the newest is a day ahead] it counts");
    T(flow_relay_stale(r, &it, &made) && it == &item[1],
      "earlier items are dropped");
    flow_relay_free(r);
}

static void
pauses(void)
{
    struct flow_relay *r = flow_relay_new(2);

    next(r, 1, 0, "");
    T(!flow_relay_next(r), "there is no item");
    take(r, 1);
    T(content(r, 1) == 2 && flow_relay_next(r) == &item[1] &&
          flow_relay_next(r) == &item[1],
      "the next item, which stays");
    flow_relay_pause(r, 1);
    T(flow_relay_next_snapshot(r, 1, &(struct wire_want){0}) &&
          content(r, 1) == 0,
      "[relay: data of an item are not there] a paused relay has room for "
      "none");
    flow_relay_pause(r, 0);
    T(content(r, 1) == 2 && make(r) == 1, "then for all, and has the item");
    empty(r);
}

int
main(void)
{
    lowest_first();
    what_is_old();
    in_the_making();
    in_the_making_of_before();
    room();
    cannot_be_sent();
    lost();
    waits_are_known();
    forgets();
    pauses();
    return t_done();
}
