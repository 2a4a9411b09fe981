/* Mostly waits, 1 s */
#include "t.h"
#include "wire/feed.h"

#include "flow/ends.h"

static struct wire_metrics metrics = {
    .stage = "train", .n = 1, .values = {{"loss", 4.5, 0}}};

/* PUB knows no handshake: publish until the first one arrives. */
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

/* 1 when, within seconds, a kind is followed, or not. */
static int
becomes(struct wire *a, struct wire *b, struct wire_feed *feed,
        enum wire_kind kind, int followed)
{
    for (int i = 0; i < 1000; i++) {
        if (wire_feed_followed(feed, kind) == followed)
            return 1;
        turn(a, b);
    }
    return 0;
}

/* Nobody reads while many are sent: did the publisher wait for the slow, it
 * would wait for ever. */
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
    T(!strange, "only what it follows comes");
    T(lost > 0, "a slow subscriber sees the gap: %ju lost", (uintmax_t)lost);
}

static void
metrics_come(struct wire *a, struct wire *b, struct wire_feed *feed,
             struct wire_listener *all)
{
    struct wire_msg *msg;
    struct err err;
    uint64_t missed;
    int came = 0;

    for (int i = 0; i < 1000 && !came; i++) {
        wire_feed_metrics(feed, &metrics);
        turn(a, b);
        while (wire_listener_next(all, &msg, &missed, &err) > 0) {
            came += wire_msg_kind(msg) == WIRE_METRICS;
            wire_msg_free(msg);
        }
    }
    T(came > 0, "who follows all gets metrics too");
}

static void
statuses_come(struct wire *a, struct wire *b, struct wire_feed *feed,
              struct wire_listener *all)
{
    struct wire_status heard, status = {.stage = "augment",
                                        .number = 3,
                                        .n = 1,
                                        .values = {{"room", 2, 0}}};
    struct wire_msg *msg;
    struct err err;
    uint64_t missed;
    int came = 0;

    for (int i = 0; i < 1000 && came < 2; i++) {
        wire_feed_status(feed, &status);
        turn(a, b);
        while (wire_listener_next(all, &msg, &missed, &err) > 0) {
            if (wire_msg_kind(msg) == WIRE_STATUS &&
                !wire_status_get(&heard, msg, &err) &&
                heard.sequence == status.sequence)
                came += heard.number == 3 && heard.n == 1 &&
                        heard.values->value == 2;
            wire_msg_free(msg);
        }
    }
    T(came == 2, "and how stages are, counted");
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
    T(feed && listener && all, "the listener may come first: %s", err.msg);
    msg = first(a, b, feed, listener);
    T(msg && !wire_event_get(&got, msg, &err), "events come: %s", err.msg);
    wire_msg_free(msg);
    slow_ones(a, b, feed, listener);
    metrics_come(a, b, feed, all);
    statuses_come(a, b, feed, all);
    T(wire_feed_followed(feed, WIRE_FEATURES) &&
          wire_feed_followed(feed, WIRE_DRAWN),
      "who follows all follows features and what was drawn");
    wire_listener_close(all);
    T(becomes(a, b, feed, WIRE_FEATURES, 0), "gone: nobody does");
    all = wire_listener_open(b, at("events"), "metrics features", &none, &err);
    T(becomes(a, b, feed, WIRE_FEATURES, 1), "somebody does");
    T(!wire_feed_followed(feed, WIRE_DRAWN), "but not what was drawn");
    wire_feed_close(feed);
    wire_listener_close(listener);
    wire_listener_close(all);
    wire_close(a);
    wire_close(b);
    scratch_close();
    return t_done();
}
