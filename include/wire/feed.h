#pragma once

#include "wire/events.h"
#include "wire/features.h"
#include "wire/sock.h"

/*
 * Events for subscribers: PUB and SUB.  The publisher never waits; a slow
 * subscriber loses messages, which shows as a gap in `sequence`, counted from 0
 * for each kind.  The bytes queued for subscribers are bounded (wire/sock.h):
 * one that does not read is disconnected, and may reconnect.
 */
struct wire_feed;

/* wire_feed_open() binds at an endpoint; NULL on error (wire_sock_open()).
 * limits are copied, their edge is set here; `wire` is borrowed.
 * wire_feed_close() is harmless on NULL. */
struct wire_feed *wire_feed_open(struct wire *wire, const char *endpoint,
                                 const struct wire_limits *limits,
                                 struct err *err);
void wire_feed_close(struct wire_feed *feed);

/* These set `sequence` of a message and publish it. */
void wire_feed_event(struct wire_feed *feed, struct wire_event *event);
void wire_feed_metrics(struct wire_feed *feed, struct wire_metrics *metrics);
void wire_feed_status(struct wire_feed *feed, struct wire_status *status);
void wire_feed_features(struct wire_feed *feed, struct wire_features *features);
void wire_feed_top_negatives(struct wire_feed *feed,
                             struct wire_top_negatives *top);

/* wire_feed_has_subscribers() returns 1 when messages of a kind have a
 * subscriber, so that no time is spent on messages without one. */
int wire_feed_has_subscribers(struct wire_feed *feed, enum wire_kind kind);

/* The subscriber. */
struct wire_listener;

/* wire_listener_open() subscribes to the named kinds, "metrics event"; "": to
 * all.  The publisher may start later.  NULL on error: wire_sock_open(), or
 * a name of no kind. */
struct wire_listener *
wire_listener_open(struct wire *wire, const char *endpoint, const char *kinds,
                   const struct wire_limits *limits, struct err *err);
void wire_listener_close(struct wire_listener *listener);

/*
 * wire_listener_next() returns 1 with a message, to be freed by
 * wire_msg_free(), 0 when there is none now, -1 with a message about one that
 * was refused.
 *
 *     missed   how many messages of its kind were lost just before it
 */
int wire_listener_next(struct wire_listener *listener, struct wire_msg **msg,
                       uint64_t *missed, struct err *err);
