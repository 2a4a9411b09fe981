#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "client_impl.h"

int
flow_client_joined(const struct flow_client *client)
{
    return client->greeting.state == FLOW_IN;
}

/* Sends hello when it is due; returns the time of the next one. */
static double
send_due_hello(void *self, int up, double now)
{
    struct flow_client *client = self;

    if (flow_greeting_turn(&client->greeting, up, now)) {
        struct wire_msg *hello = wire_hello_put(&client->link.hello);

        wire_sock_send(client->link.sock, NULL, hello);
        wire_msg_free(hello);
    }
    return flow_greeting_due(&client->greeting, up);
}

/* Beats go only to a binder that knows us. */
static void
update_heartbeat(struct flow_client *client)
{
    struct wire_msg *heartbeat = flow_client_joined(client)
                                     ? wire_heartbeat_put(&client->heartbeat)
                                     : NULL;

    wire_sock_heartbeat(client->link.sock, heartbeat);
    wire_msg_free(heartbeat);
}

int
flow_client_renew(struct flow_client *client, struct err *err)
{
    wire_sock_close(client->link.sock);
    flow_greeting_lost(&client->greeting);
    client->lost = 0;
    client->link.sock =
        wire_sock_connect(client->link.wire, WIRE_DEALER, client->endpoint,
                          client->role, &client->limits, err);
    if (!client->link.sock)
        return -1;
    wire_sock_on_tick(client->link.sock, send_due_hello, client);
    return 0;
}

struct flow_client *
flow_client_open(struct wire *wire, const struct flow_client_config *config,
                 struct err *err)
{
    struct flow_client *client = mem_array(1, sizeof *client);

    flow_link_init(&client->link, wire, config->edge, WIRE_CONNECTS,
                   &config->hello);
    client->endpoint = mem_text(config->endpoint);
    client->role = mem_text(config->role ? config->role : "");
    client->limits = config->limits;
    client->limits.edge = config->edge;
    if (!flow_client_renew(client, err))
        return client;
    flow_client_close(client);
    return NULL;
}

void
flow_client_close(struct flow_client *client)
{
    if (!client)
        return;
    wire_item_release(&client->item);
    flow_link_release(&client->link);
    free(client->endpoint);
    free(client->role);
    free(client);
}

/* ---- receiving: 1 news, 0 none, -1 refused ----------------------------- */

/* The binder's name in messages to the user. */
static const char *
name_binder(const struct flow_client *client)
{
    return *client->who.stage ? client->who.stage : client->endpoint;
}

int
flow_client_refuse_subject(struct flow_client *client,
                           const struct wire_subject *subject,
                           struct flow_news *news)
{
    return flow_link_refuse(&client->link, NULL, &client->refusal,
                            name_binder(client), subject, news);
}

static int
refuse_message(struct flow_client *client, struct flow_news *news)
{
    struct wire_subject subject;

    wire_subject_of(&subject, client->link.msg);
    return flow_client_refuse_subject(client, &subject, news);
}

int
flow_client_refuse(struct flow_client *client, struct err *why)
{
    struct flow_news news = {.why = *why};
    int print;

    REQUIRE(client->link.msg);
    print = refuse_message(client, &news);
    *why = news.why;
    return print;
}

/* A message that cannot be read.  Another version is refused by name. */
static int
on_unreadable(struct flow_client *client, struct flow_news *news,
              struct err *err)
{
    const struct wire_subject *subject = wire_sock_subject(client->link.sock);

    if (!flow_client_joined(client) && subject->version)
        return err_set(err, "'%.80s': %.400s", client->endpoint, news->why.msg);
    return flow_client_refuse_subject(client, subject, news);
}

static int
on_hello(struct flow_client *client, struct flow_news *news, struct err *err)
{
    struct wire_hello who;

    if (wire_hello_get(&who, client->link.msg, &news->why))
        return refuse_message(client, news);
    if (wire_hello_fits(&client->link.hello, &who, err)) {
        flow_link_end(&client->link, err);
        return -1;
    }
    if (!flow_greeting_hello(&client->greeting))
        return 0;
    client->who = who;
    update_heartbeat(client);
    news->what = FLOW_JOINED;
    return 1;
}

static int
on_error(struct flow_client *client, struct flow_news *news, struct err *err)
{
    struct wire_error error;

    if (wire_error_get(&error, client->link.msg, &news->why))
        return refuse_message(client, news);
    switch (flow_error_about(&error)) {
    case FLOW_ABOUT_GREETING:
        flow_greeting_again(&client->greeting);
        update_heartbeat(client);
        return 0;
    case FLOW_ABOUT_REQUEST:
        return wire_edge_is_service(client->link.edge);
    case FLOW_ABOUT_US:
        return err_set(err, "refused by '%.80s': %.400s", client->endpoint,
                       error.reason);
    case FLOW_ABOUT_MESSAGE:
        break;
    }
    return flow_link_on_refusal(&client->link, &error, client->endpoint, news);
}

/* An item must be of the binder's run, or of ours where it named none. */
static int
check_run(const struct flow_client *client, struct err *err)
{
    const char *run =
        *client->who.run ? client->who.run : client->link.hello.run;

    if (!*client->item.run || !strcmp(client->item.run, run))
        return 0;
    return err_set(err, "item: of run '%s', this is run '%s'", client->item.run,
                   run);
}

static int
get_item(struct flow_client *client, struct flow_news *news)
{
    const int64_t ours = client->link.hello.size,
                  size = ours ? ours : client->who.size;

    news->item = &client->item;
    return wire_item_get(&client->item, client->link.msg, size, &news->why) ||
                   check_run(client, &news->why)
               ? -1
               : 0;
}

static int
on_message(struct flow_client *client, struct flow_news *news, struct err *err)
{
    const enum wire_kind kind = wire_msg_kind(client->link.msg);
    struct wire_subject subject;

    if (kind == WIRE_HELLO)
        return on_hello(client, news, err);
    if (kind == WIRE_ERROR)
        return on_error(client, news, err);
    if (!flow_client_joined(client)) // meant for an earlier connection
        return 0;
    if (wire_edge_is_service(
            client->link.edge)) // an answer: service.c checks it
        return 1;
    wire_subject_of(&subject, client->link.msg);
    if (flow_link_check(&client->link, kind, &subject, &news->why) ||
        flow_link_decode(&client->link, news) ||
        (kind == WIRE_ITEM && get_item(client, news)))
        return flow_client_refuse_subject(client, &subject, news);
    return 1;
}

/*
 * No message is pending: has the connection been lost?  Messages received
 * before the loss are read first; the report that the run is over may be among
 * them.  Returns 1 to read once more.
 */
static int
check_lost(struct flow_client *client)
{
    if (client->lost) {
        client->lost = 0;
        flow_greeting_lost(&client->greeting);
        update_heartbeat(client);
        return 0;
    }
    client->lost = wire_sock_lost(client->link.sock);
    return client->lost;
}

int
flow_client_read(struct flow_client *client, struct flow_news *news,
                 struct err *err)
{
    int rc = 0;

    while (!rc) {
        int got;

        wire_item_release(&client->item);
        got = flow_link_read(&client->link, NULL, news);
        if (got)
            rc = got < 0 ? on_unreadable(client, news, err)
                         : on_message(client, news, err);
        else if (!check_lost(client))
            break;
    }
    return rc;
}

int
flow_client_next(struct flow_client *client, struct flow_news *news,
                 struct err *err)
{
    return flow_link_poll_refused(&client->link, news)
               ? 1
               : flow_client_read(client, news, err);
}

int
flow_client_trouble(const struct flow_client *client, struct err *why)
{
    if (flow_client_joined(client))
        return 0;
    if (!wire_sock_trouble(client->link.sock, why))
        err_set(why, "no answer from '%.200s' yet", client->endpoint);
    return 1;
}

const struct wire_hello *
flow_client_binder_hello(const struct flow_client *client)
{
    return &client->who;
}

void
flow_client_heartbeat(struct flow_client *client,
                      const struct wire_heartbeat *heartbeat)
{
    client->heartbeat = *heartbeat;
    update_heartbeat(client);
}

int
flow_client_send(struct flow_client *client, struct wire_msg *msg)
{
    return flow_client_joined(client) &&
           wire_sock_send(client->link.sock, NULL, msg) == 1;
}
