#ifndef WIRE_CONNECT_H
#define WIRE_CONNECT_H

#include "wire/client.h"

#include "greeting.h"
#include "link.h"

/*
 * The inside of wire/client.h, for service.c, which asks through a client.
 */
struct wire_client {
    struct wire_link link;
    char *endpoint, *role;
    struct wire_limits limits;
    struct wire_hello who; /* the binder */
    struct wire_greeting greeting;
    int lost; /* the connection is, and what came before is being read */
    struct wire_refusal refusal;
    struct wire_beat beat; /* ours */
    struct wire_item item; /* of the news that is out, where it is one, */
    struct wire_next next; /* or one of these */
};

/* wire_client_renew() closes the connection, if there is one, and makes
 * another: 0, or -1 and a sentence. */
int wire_client_renew(struct wire_client *client, struct err *err);

/* wire_client_read() is wire_client_next(), but says nothing of connections
 * that were refused, which are of the whole process. */
int wire_client_read(struct wire_client *client, struct wire_news *news,
                     struct err *err);

/* wire_client_bad() refuses a message because of news->why: 1 when the news is
 * to be printed. */
int wire_client_bad(struct wire_client *client,
                    const struct wire_subject *subject, struct wire_news *news);

#endif
