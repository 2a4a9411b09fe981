#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "connect.h"
#include "raw.h"

int
wire_client_joined(const struct wire_client *client)
{
    return client->greeting.state == WIRE_IN;
}

int
wire_client_renew(struct wire_client *client, struct err *err)
{
    struct wire_msg *hello;

    wire_sock_close(client->link.sock);
    wire_greeting_lost(&client->greeting);
    client->lost = 0;
    client->link.sock =
        wire_sock_connect(client->link.wire, WIRE_DEALER, client->endpoint,
                          client->role, &client->limits, err);
    if (!client->link.sock)
        return -1;
    hello = wire_hello_put(&client->link.hello);
    wire_sock_greet(client->link.sock, &client->greeting, hello);
    wire_msg_free(hello);
    return 0;
}

struct wire_client *
wire_client_open(struct wire *wire, const struct wire_client_config *config,
                 struct err *err)
{
    struct wire_client *client = mem_array(1, sizeof *client);

    wire_link_init(&client->link, wire, config->edge, WIRE_CONNECTS,
                   &config->hello);
    client->endpoint = mem_text(config->endpoint);
    client->role = mem_text(config->role ? config->role : "");
    client->limits = config->limits;
    client->limits.edge = config->edge;
    if (!wire_client_renew(client, err))
        return client;
    wire_client_close(client);
    return NULL;
}

void
wire_client_close(struct wire_client *client)
{
    if (!client)
        return;
    wire_item_release(&client->item);
    wire_next_release(&client->next);
    wire_link_release(&client->link);
    free(client->endpoint);
    free(client->role);
    free(client);
}

/* ---- what comes in: 1 news, 0 none, -1 refused ------------------------- */

/* The binder, for people. */
static const char *
name_binder(const struct wire_client *client)
{
    return *client->who.stage ? client->who.stage : client->endpoint;
}

int
wire_client_bad(struct wire_client *client, const struct wire_subject *subject,
                struct wire_news *news)
{
    return wire_link_refuse(&client->link, NULL, &client->refusal,
                            name_binder(client), subject, news);
}

static int
refuse_message(struct wire_client *client, struct wire_news *news)
{
    struct wire_subject subject;

    wire_subject_of(&subject, client->link.msg);
    return wire_client_bad(client, &subject, news);
}

int
wire_client_refuse(struct wire_client *client, struct err *why)
{
    struct wire_news news = {.why = *why};
    int say;

    REQUIRE(client->link.msg);
    say = refuse_message(client, &news);
    *why = news.why;
    return say;
}

/* What could not be read.  Another version is refused by name. */
static int
on_unread(struct wire_client *client, struct wire_news *news, struct err *err)
{
    const struct wire_subject *subject = wire_sock_subject(client->link.sock);

    if (!wire_client_joined(client) && subject->version)
        return err_set(err, "'%.80s': %.400s", client->endpoint, news->why.msg);
    return wire_client_bad(client, subject, news);
}

/* From now on, each second. */
static void
show_life(struct wire_client *client)
{
    struct wire_msg *beat = wire_beat_put(&client->beat);

    wire_sock_beat(client->link.sock, beat);
    wire_msg_free(beat);
}

static int
on_hello(struct wire_client *client, struct wire_news *news, struct err *err)
{
    struct wire_hello who;

    if (wire_hello_get(&who, client->link.msg, &news->why))
        return refuse_message(client, news);
    if (wire_hello_fits(&client->link.hello, &who, err)) {
        wire_link_end(&client->link, err);
        return -1;
    }
    if (!wire_greeting_hello(&client->greeting))
        return 0;
    client->who = who;
    show_life(client);
    news->what = WIRE_JOINED;
    return 1;
}

/* For the tool, as it is. */
static int
pass_on(struct wire_client *client, struct wire_news *news)
{
    news->what = WIRE_MESSAGE;
    news->msg = client->link.msg;
    return 1;
}

static int
on_error(struct wire_client *client, struct wire_news *news, struct err *err)
{
    struct wire_error error;

    if (wire_error_get(&error, client->link.msg, &news->why))
        return refuse_message(client, news);
    switch (wire_error_about(&error)) {
    case WIRE_ABOUT_GREETING:
        wire_greeting_again(&client->greeting);
        return 0;
    case WIRE_ABOUT_REQUEST:
        return wire_edge_serves(client->link.edge) && pass_on(client, news);
    case WIRE_ABOUT_US:
        return err_set(err, "refused by '%.80s': %.400s", client->endpoint,
                       error.reason);
    case WIRE_ABOUT_MESSAGE:
        break;
    }
    return wire_link_told(&client->link, &error, client->endpoint, news);
}

static int
on_next(struct wire_client *client, struct wire_news *news)
{
    if (wire_next_get(&client->next, client->link.msg, &news->why))
        return refuse_message(client, news);
    return pass_on(client, news);
}

static int
on_end(struct wire_client *client, struct wire_news *news)
{
    struct wire_end end;

    if (wire_end_get(&end, client->link.msg, &news->why))
        return refuse_message(client, news);
    news->at = end.at;
    news->what = end.over ? WIRE_OVER : WIRE_ENDED;
    return 1;
}

/* An item is of the run that the binder named, or that we did. */
static int
check_run(const struct wire_client *client, struct err *err)
{
    const char *run =
        *client->who.run ? client->who.run : client->link.hello.run;

    if (!*client->item.run || !strcmp(client->item.run, run))
        return 0;
    return err_set(err, "item: of run '%s', this is run '%s'", client->item.run,
                   run);
}

static int
on_item(struct wire_client *client, struct wire_news *news)
{
    const int64_t ours = client->link.hello.size,
                  size = ours ? ours : client->who.size;

    if (wire_item_get(&client->item, client->link.msg, size, &news->why) ||
        check_run(client, &news->why))
        return refuse_message(client, news);
    return pass_on(client, news);
}

static int
on_message(struct wire_client *client, struct wire_news *news, struct err *err)
{
    const enum wire_kind kind = wire_msg_kind(client->link.msg);
    struct wire_subject subject;

    if (kind == WIRE_HELLO)
        return on_hello(client, news, err);
    if (kind == WIRE_ERROR)
        return on_error(client, news, err);
    if (!wire_client_joined(client)) // meant for an earlier connection
        return 0;
    if (wire_edge_serves(client->link.edge)) // an answer: service.c checks it
        return pass_on(client, news);
    wire_subject_of(&subject, client->link.msg);
    if (wire_link_check(&client->link, kind, &subject, &news->why))
        return wire_client_bad(client, &subject, news);
    if (kind == WIRE_END)
        return on_end(client, news);
    return kind == WIRE_ITEM ? on_item(client, news) : on_next(client, news);
}

/*
 * Nothing is there to be read: has the connection been lost?  What came before
 * that is read first, and it may have come just now, such as the news that the
 * run is over.  Returns 1 when there is to be another look.
 */
static int
look_again(struct wire_client *client)
{
    if (client->lost) {
        client->lost = 0;
        wire_greeting_lost(&client->greeting);
        return 0;
    }
    client->lost = wire_sock_lost(client->link.sock);
    return client->lost;
}

int
wire_client_read(struct wire_client *client, struct wire_news *news,
                 struct err *err)
{
    int rc = 0;

    while (!rc) {
        int got;

        wire_item_release(&client->item);
        wire_next_release(&client->next);
        got = wire_link_read(&client->link, NULL, news);
        if (got)
            rc = got < 0 ? on_unread(client, news, err)
                         : on_message(client, news, err);
        else if (!look_again(client))
            break;
    }
    return rc;
}

int
wire_client_next(struct wire_client *client, struct wire_news *news,
                 struct err *err)
{
    return wire_link_look(&client->link, news)
               ? 1
               : wire_client_read(client, news, err);
}

/* ---- what the tool asks and does --------------------------------------- */

int
wire_client_trouble(const struct wire_client *client, struct err *why)
{
    if (wire_client_joined(client))
        return 0;
    if (!wire_sock_trouble(client->link.sock, why))
        err_set(why, "nobody has answered at '%.200s'", client->endpoint);
    return 1;
}

const struct wire_hello *
wire_client_who(const struct wire_client *client)
{
    return &client->who;
}

const struct wire_item *
wire_client_item(const struct wire_client *client)
{
    REQUIRE(client->item.msg);
    return &client->item;
}

const struct wire_next *
wire_client_snapshot(const struct wire_client *client)
{
    REQUIRE(client->next.msg);
    return &client->next;
}

void
wire_client_beat(struct wire_client *client, const struct wire_beat *beat)
{
    client->beat = *beat;
    if (wire_client_joined(client))
        show_life(client);
}

int
wire_client_send(struct wire_client *client, struct wire_msg *msg)
{
    return wire_client_joined(client) &&
           wire_sock_send(client->link.sock, NULL, msg) == 1;
}
