#ifndef FLOW_CLIENT_H
#define FLOW_CLIENT_H

#include "flow/news.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * The connecting end of an edge.  It sends hello, and again whenever the binder
 * does not know it (after a restart or a lost connection), and a heartbeat each
 * second.  Messages that arrive before the binder's answer belong to an earlier
 * connection and are dropped (lib/flow/greeting.h).
 *
 * A message that the client refuses changes nothing and is counted.  Its sender
 * receives an error with the reason, at most 16 errors a second.
 */
struct flow_client;

struct flow_client_config {
    const char *endpoint;
    const char *role;        /* the binder's: "select", "train" */
    enum wire_edge edge;     /* PLAN: receives items; BATCH: sends batches */
    struct wire_hello hello; /* ours; an empty `peer` is filled in */
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
 * flow_client_next() returns 1 with news, 0 when there is none now, -1 when the
 * binder refused us (version, run, data set): exit with the sentence in *err.
 *
 * News is FLOW_JOINED, FLOW_MESSAGE, FLOW_ENDED, FLOW_OVER or FLOW_REPORT.  The
 * message is an item on edge PLAN, of our run and with ids within the data set,
 * and a snapshot on edge BATCH.
 */
int flow_client_next(struct flow_client *client, struct flow_news *news,
                     struct err *err);

/* flow_client_joined() returns 1 while the binder knows us. */
int flow_client_joined(const struct flow_client *client);

/* flow_client_trouble() returns 1 with the reason while the binder does not
 * know us. */
int flow_client_trouble(const struct flow_client *client, struct err *why);

/* flow_client_binder_hello() returns the binder's hello, owned by the client;
 * its stage is "" before FLOW_JOINED. */
const struct wire_hello *
flow_client_binder_hello(const struct flow_client *client);

/*
 * flow_client_refuse() refuses the message of the last news and sends an error
 * that names the message and the reason.  Returns 1 when *why is to be printed,
 * with the count and the sender added.
 */
int flow_client_refuse(struct flow_client *client, struct err *why);

/* flow_client_heartbeat() sets the content of all later heartbeats. */
void flow_client_heartbeat(struct flow_client *client,
                           const struct wire_heartbeat *heartbeat);

/* flow_client_send() returns 1 when the message was sent, 0 when it was not:
 * the binder does not know us, or the queue is full.  The caller keeps
 * ownership of the message. */
int flow_client_send(struct flow_client *client, struct wire_msg *msg);

#endif
