/* Mostly waits, 1 s */
#include "t.h"
#include "wire/feed.h"

#include "flow/ends.h"

static struct wire_metrics metrics = {
    .stage = "train", .n = 1, .values = {{"loss", 4.5, 0}}};

/* A PUB does not see subscriptions at once: publish until one message arrives.
 */
static struct wire_msg *
first(struct wire *a, struct wire *b, struct wire_feed *feed,
      struct wire_listener *listener)
{
    struct wire_event event = {.what = "step"};
    struct wire_msg *msg;
    struct err err;
    uint64_t missed;

    for (int i = 0; i < 1000; i++) {
        wire_feed_event(feed, &event);
        turn(a, b);
        if (wire_listener_next(listener, &msg, &missed, &err) > 0)
            return msg;
    }
    return NULL;
}

/* 1 when, within seconds, a kind has a subscriber, or has none. */
static int
becomes(struct wire *a, struct wire *b, struct wire_feed *feed,
        enum wire_kind kind, int followed)
{
    for (int i = 0; i < 1000; i++) {
        if (wire_feed_has_subscribers(feed, kind) == followed)
            return 1;
        turn(a, b);
    }
    return 0;
}

/* Many messages are sent and not read: a publisher that waited for slow
 * subscribers would wait for ever. */
static void
slow_ones(struct wire *a, struct wire *b, struct wire_feed *feed,
          struct wire_listener *listener)
{
    struct wire_event event = {.what = "step"};
    uint64_t missed, lost = 0, strange = 0;
    struct wire_msg *msg;
    struct err err;

    for (int i = 0; i < 20000; i++)
        wire_feed_event(feed, &event);
    wire_feed_metrics(feed, &metrics);
    for (int i = 0; i < 1000 && !lost; i++) {
        wire_feed_event(feed, &event);
        turn(a, b);
        while (wire_listener_next(listener, &msg, &missed, &err) > 0) {
            strange += wire_msg_kind(msg) != WIRE_EVENT;
            lost += missed;
            wire_msg_free(msg);
        }
    }
    T(!strange, "only subscribed kinds arrive");
    T(lost > 0, "a slow subscriber sees the gap: %ju lost", (uintmax_t)lost);
}

static void
metrics_come(struct wire *a, struct wire *b, struct wire_feed *feed,
             struct wire_listener *all)
{
    struct wire_msg *msg;
    struct err err;
    uint64_t missed;
    int received = 0;

    for (int i = 0; i < 1000 && !received; i++) {
        wire_feed_metrics(feed, &metrics);
        turn(a, b);
        while (wire_listener_next(all, &msg, &missed, &err) > 0) {
            received += wire_msg_kind(msg) == WIRE_METRICS;
            wire_msg_free(msg);
        }
    }
    T(received > 0, "a subscriber to all gets metrics, too");
}

static void
statuses_come(struct wire *a, struct wire *b, struct wire_feed *feed,
              struct wire_listener *all)
{
    struct wire_status got, status = {.stage = "augment",
                                      .number = 3,
                                      .n = 1,
                                      .values = {{"room", 2, 0}}};
    struct wire_msg *msg;
    struct err err;
    uint64_t missed;
    int received = 0;

    for (int i = 0; i < 1000 && received < 2; i++) {
        wire_feed_status(feed, &status);
        turn(a, b);
        while (wire_listener_next(all, &msg, &missed, &err) > 0) {
            if (wire_msg_kind(msg) == WIRE_STATUS &&
                !wire_status_get(&got, msg, &err) &&
                got.sequence == status.sequence)
                received +=
                    got.number == 3 && got.n == 1 && got.values->value == 2;
            wire_msg_free(msg);
        }
    }
    T(received == 2, "the status of stages is received, counted");
}

static void
no_kind(struct wire *b)
{
    const struct wire_limits none = {0};
    struct err err;

    T(!wire_listener_open(b, at("events"), "event metric", &none, &err) &&
          !strcmp(err.msg, "no such kind of message: 'metric'"),
      "a name of no kind is refused: %s", err.msg);
}

int
main(void)
{
    struct wire_event got;
    const struct wire_limits small = {.queue = 1}, none = {0};
    struct err err = {""};
    struct wire *a, *b;
    struct wire_feed *feed;
    struct wire_listener *listener, *all;
    struct wire_msg *msg;

    scratch_open();
    a = wire_open(NULL, &err);
    b = wire_open(NULL, &err);
    listener = wire_listener_open(b, at("events"), "event", &small, &err);
    all = wire_listener_open(b, at("events"), "", &none, &err);
    feed = wire_feed_open(a, at("events"), &small, &err);
    T(feed && listener && all, "the subscriber may start first: %s", err.msg);
    msg = first(a, b, feed, listener);
    T(msg && !wire_event_get(&got, msg, &err), "events arrive: %s", err.msg);
    wire_msg_free(msg);
    slow_ones(a, b, feed, listener);
    metrics_come(a, b, feed, all);
    statuses_come(a, b, feed, all);
    T(wire_feed_has_subscribers(feed, WIRE_FEATURES) &&
          wire_feed_has_subscribers(feed, WIRE_TOP_NEGATIVES),
      "a subscriber to all receives features and drawn");
    wire_listener_close(all);
    T(becomes(a, b, feed, WIRE_FEATURES, 0),
      "after it left, none has a subscriber");
    all = wire_listener_open(b, at("events"), "metrics features", &none, &err);
    T(becomes(a, b, feed, WIRE_FEATURES, 1), "features have a subscriber");
    T(!wire_feed_has_subscribers(feed, WIRE_TOP_NEGATIVES),
      "drawn has no subscriber");
    no_kind(b);
    wire_feed_close(feed);
    wire_listener_close(listener);
    wire_listener_close(all);
    wire_close(a);
    wire_close(b);
    scratch_close();
    return t_done();
}
