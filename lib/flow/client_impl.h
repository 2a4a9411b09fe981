#ifndef FLOW_CLIENT_IMPL_H
#define FLOW_CLIENT_IMPL_H

#include "flow/client.h"

#include "greeting.h"
#include "link.h"

/*
 * The internals of flow/client.h, for service.c, which sends through a client.
 */
struct flow_client {
    struct flow_link link;
    char *endpoint, *role;
    struct wire_limits limits;
    struct wire_hello who; /* the binder */
    struct flow_greeting greeting;
    int lost; /* the connection is lost; what it received is still read */
    struct flow_refusal refusal;
    struct wire_heartbeat heartbeat; /* ours */
    struct wire_item item;           /* of the last news, where it is an item */
};

/* flow_client_renew() closes the connection, if there is one, and makes a new
 * one: 0, or -1 with a sentence. */
int flow_client_renew(struct flow_client *client, struct err *err);

/* flow_client_read() is flow_client_next() without the reports of refused
 * connections, which concern the whole process. */
int flow_client_read(struct flow_client *client, struct flow_news *news,
                     struct err *err);

/* flow_client_refuse_subject() refuses a message because of news->why: 1 when
 * the news is to be printed. */
int flow_client_refuse_subject(struct flow_client *client,
                               const struct wire_subject *subject,
                               struct flow_news *news);

#endif
