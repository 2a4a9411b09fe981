#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/feed.h"

#include "pack.h"
#include "sock_impl.h"

struct wire_feed {
    struct wire_sock *sock;
    int64_t sent[WIRE_KINDS]; /* messages of a kind so far */

    /* of a kind in a version of the protocol, bit n: the first n bytes of its
     * topic are subscribed */
    unsigned followed[WIRE_VERSION + 1][WIRE_KINDS];
};

struct wire_listener {
    struct wire_sock *sock;
    unsigned kinds;           /* bits of those subscribed; 0: all */
    int version;              /* of the last message; 0: none came yet */
    int64_t next[WIRE_KINDS]; /* sequence to come; -1: none seen yet */
};

struct wire_feed *
wire_feed_open(struct wire *wire, const char *endpoint,
               const struct wire_limits *limits, struct err *err)
{
    struct wire_feed *feed = mem_array(1, sizeof *feed);
    struct wire_limits mine = *limits;

    mine.edge = WIRE_EDGE_EVENTS;
    feed->sock = wire_sock_open(wire, WIRE_PUB, endpoint, NULL, &mine, err);
    if (feed->sock)
        return feed;
    free(feed);
    return NULL;
}

void
wire_feed_close(struct wire_feed *feed)
{
    if (!feed)
        return;
    wire_sock_close(feed->sock);
    free(feed);
}

static void
publish_message(struct wire_feed *feed, enum wire_kind kind, const void *from,
                int64_t *sequence)
{
    struct wire_msg *msg, *old;

    *sequence = feed->sent[kind]++;
    msg = wire_encode(kind, from);
    wire_sock_send(feed->sock, NULL, msg);
    if (feed->followed[WIRE_VERSION_OLD][kind]) {
        old = wire_msg_to_old(msg, WIRE_VERSION_OLD);
        wire_sock_send(feed->sock, NULL, old);
        wire_msg_free(old);
    }
    wire_msg_free(msg);
}

void
wire_feed_event(struct wire_feed *feed, struct wire_event *event)
{
    publish_message(feed, WIRE_EVENT, event, &event->sequence);
}

void
wire_feed_metrics(struct wire_feed *feed, struct wire_metrics *metrics)
{
    publish_message(feed, WIRE_METRICS, metrics, &metrics->sequence);
}

void
wire_feed_status(struct wire_feed *feed, struct wire_status *status)
{
    publish_message(feed, WIRE_STATUS, status, &status->sequence);
}

void
wire_feed_features(struct wire_feed *feed, struct wire_features *features)
{
    publish_message(feed, WIRE_FEATURES, features, &features->sequence);
}

void
wire_feed_top_negatives(struct wire_feed *feed, struct wire_top_negatives *top)
{
    publish_message(feed, WIRE_TOP_NEGATIVES, top, &top->sequence);
}

/* Records whether a topic, a prefix, is subscribed, for all its kinds. */
static void
note_topic(struct wire_feed *feed, int version, const char *topic, size_t n,
           int on)
{
    char name[WIRE_TOPIC_MAX];

    for (enum wire_kind kind = 0; kind < WIRE_KINDS; kind++) {
        unsigned *followed = &feed->followed[version][kind];

        if (n <= wire_topic(kind, version, name) && !memcmp(topic, name, n))
            *followed = on ? *followed | 1u << n : *followed & ~(1u << n);
    }
}

/* ZeroMQ reports each topic when its first subscriber comes and when its last
 * one leaves.  A topic is a prefix: those of a kind differ by their length. */
int
wire_feed_has_subscribers(struct wire_feed *feed, enum wire_kind kind)
{
    zmq_msg_t change;

    zmq_msg_init(&change);
    while (zmq_msg_recv(&change, feed->sock->socket, ZMQ_DONTWAIT) >= 0) {
        const size_t size = zmq_msg_size(&change);
        const char *text = zmq_msg_data(&change);

        if (!size || (unsigned char)*text > 1) // no subscription
            continue;
        note_topic(feed, WIRE_VERSION, text + 1, size - 1, *text);
        if (size - 1 > strlen("foil")) // a shorter one is followed by version 3
            note_topic(feed, WIRE_VERSION_OLD, text + 1, size - 1, *text);
    }
    zmq_msg_close(&change);
    return feed->followed[WIRE_VERSION][kind] ||
           feed->followed[WIRE_VERSION_OLD][kind];
}

/* Subscribes to a kind, WIRE_KINDS: to all; on = 0: ends that. */
static void
set_topic(struct wire_listener *listener, int on, int version,
          enum wire_kind kind)
{
    char topic[WIRE_TOPIC_MAX];

    REQUIRE(!zmq_setsockopt(listener->sock->socket,
                            on ? ZMQ_SUBSCRIBE : ZMQ_UNSUBSCRIBE, topic,
                            wire_topic(kind, version, topic)));
}

static void
set_topics(struct wire_listener *listener, int on, int version)
{
    if (!listener->kinds)
        set_topic(listener, on, version, WIRE_KINDS);
    for (enum wire_kind kind = 0; kind < WIRE_KINDS; kind++)
        if (listener->kinds >> kind & 1)
            set_topic(listener, on, version, kind);
}

struct wire_listener *
wire_listener_open(struct wire *wire, const char *endpoint, const char *kinds,
                   const struct wire_limits *limits, struct err *err)
{
    struct wire_listener *listener = mem_array(1, sizeof *listener);
    struct wire_limits mine = *limits;

    mine.edge = WIRE_EDGE_EVENTS;
    for (size_t i = 0; i < WIRE_KINDS; i++)
        listener->next[i] = -1;
    listener->sock =
        wire_sock_open(wire, WIRE_SUB, endpoint, "train", &mine, err);
    if (!listener->sock) {
        free(listener);
        return NULL;
    }
    for (size_t n; *kinds; kinds += n + strspn(kinds + n, " ")) {
        enum wire_kind kind;

        n = strcspn(kinds, " ");
        kind = wire_kind_find(kinds, n, WIRE_VERSION);
        if (kind == WIRE_KINDS) {
            err_set(err, "no such kind of message: '%.*s'", (int)n, kinds);
            wire_listener_close(listener);
            return NULL;
        }
        listener->kinds |= 1u << kind;
    }
    for (int version = WIRE_VERSION_OLD; version <= WIRE_VERSION; version++)
        set_topics(listener, 1, version);
    return listener;
}

void
wire_listener_close(struct wire_listener *listener)
{
    if (!listener)
        return;
    wire_sock_close(listener->sock);
    free(listener);
}

/* A publisher of version 3 also publishes in version 2 while a topic of that is
 * subscribed: end the subscription, and drop what came of it. */
static int
is_copy(struct wire_listener *listener, const struct wire_msg *msg)
{
    if (msg->version == WIRE_VERSION && listener->version != WIRE_VERSION)
        set_topics(listener, 0, WIRE_VERSION_OLD);
    if (msg->version < listener->version)
        return 1;
    listener->version = msg->version;
    return 0;
}

int
wire_listener_next(struct wire_listener *listener, struct wire_msg **msg,
                   uint64_t *missed, struct err *err)
{
    struct wire_reader r;
    int64_t sequence, *next;
    int rc;

    *missed = 0;
    while ((rc = wire_sock_recv(listener->sock, NULL, msg, err)) > 0 &&
           is_copy(listener, *msg))
        wire_msg_free(*msg);
    if (rc <= 0)
        return rc;
    r = wire_read_start(*msg, err);
    sequence = wire_read_whole(&r, "sequence", 0, INT64_MAX - 1);
    if (r.rc) {
        wire_msg_free(*msg);
        return -1;
    }
    next = &listener->next[wire_msg_kind(*msg)];
    if (*next >= 0 && sequence > *next)
        *missed = (uint64_t)(sequence - *next);
    *next = sequence + 1;
    return 1;
}
