#ifndef FLOW_CLIENT_H
#define FLOW_CLIENT_H

#include "flow/news.h"
#include "wire/hello.h"
#include "wire/item.h"
#include "wire/sock.h"

/*
 * The end of an edge that connects.  It says hello, says it again whenever the
 * binder does not know it (after a restart or a lost connection), and sends a
 * sign of life each second.  Messages that come before the binder's answer were
 * meant for an earlier connection and are dropped (lib/flow/greeting.h).
 *
 * A message that the client refuses changes nothing and is counted, and its
 * sender is told why, at most 16 times a second.
 */
struct flow_client;

struct flow_client_config {
    const char *endpoint;
    const char *role;        /* of the binder: "select", "train" */
    enum wire_edge edge;     /* PLAN: items come; BATCH: batches are sent */
    struct wire_hello hello; /* ours; where `peer` is "", a name is made */
    struct wire_limits limits;
};

/* flow_client_open() returns at once: the binder may start later.  NULL on
 * error.
 */
struct flow_client *flow_client_open(struct wire *wire,
                                     const struct flow_client_config *config,
                                     struct err *err);
void flow_client_close(struct flow_client *client);

/*
 * flow_client_next() returns 1 with news, 0 when there is none now, -1 when
 * the binder refused us (version, run, data set): end with that sentence.
 *
 * News is FLOW_JOINED, FLOW_MESSAGE, FLOW_ENDED, FLOW_OVER or FLOW_REPORT.  The
 * message is an item on edge PLAN and a snapshot on edge BATCH.
 */
int flow_client_next(struct flow_client *client, struct flow_news *news,
                     struct err *err);

/*
 * The message of the last news, until the next flow_client_next():
 * flow_client_item() returns the item, which is of our run and has ids within
 * the data set, flow_client_snapshot() the consumer's snapshot.
 */
const struct wire_item *flow_client_item(const struct flow_client *client);
const struct wire_next *flow_client_snapshot(const struct flow_client *client);

/* flow_client_joined() returns 1 while the binder knows us. */
int flow_client_joined(const struct flow_client *client);

/* flow_client_trouble() returns 1, and why, while the binder does not know us.
 */
int flow_client_trouble(const struct flow_client *client, struct err *why);

/* flow_client_who() returns the binder's hello, lent; before FLOW_JOINED its
 * stage is "". */
const struct wire_hello *flow_client_who(const struct flow_client *client);

/*
 * flow_client_refuse() refuses the message of the last news: its sender is told
 * why by an error that names the message.  Returns 1 when *why is to be
 * printed, with the count and the sender added.
 */
int flow_client_refuse(struct flow_client *client, struct err *why);

/* flow_client_beat() puts *beat into each sign of life from now on. */
void flow_client_beat(struct flow_client *client, const struct wire_beat *beat);

/* flow_client_send() sends a message: 1, or 0 when it was not sent, since the
 * binder does not know us or the queue is full.  The message stays
 * the caller's. */
int flow_client_send(struct flow_client *client, struct wire_msg *msg);

#endif
