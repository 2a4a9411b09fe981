#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/client.h"
#include "wire/error.h"

#include "greeting.h"
#include "raw.h"
#include "refusal.h"

struct wire_client {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_edge edge;
    struct wire_hello hello, who;
    struct wire_greeting greeting;
    int lost; /* the connection is, and what came before is being read */
    struct wire_refusal refusal;
    struct tally refused;  /* messages */
    struct tally told;     /* errors about messages of ours */
    struct wire_msg *msg;  /* of the news that is out */
    struct wire_beat beat; /* ours */
    struct wire_item item; /* the same, where it is one, */
    struct wire_next next; /* or one of these */
};

static int
is_in(const struct wire_client *client)
{
    return client->greeting.state == WIRE_IN;
}

struct wire_client *
wire_client_open(struct wire *wire, const struct wire_client_config *config,
                 struct err *err)
{
    struct wire_client *client = mem_array(1, sizeof *client);
    struct wire_limits limits = config->limits;
    struct wire_msg *hello;

    limits.edge = config->edge;
    client->wire = wire;
    client->edge = config->edge;
    client->hello = config->hello;
    client->hello.version = WIRE_VERSION;
    wire_hello_name(&client->hello);
    client->sock = wire_sock_connect(wire, WIRE_DEALER, config->endpoint,
                                     config->role, &limits, err);
    if (!client->sock) {
        free(client);
        return NULL;
    }
    hello = wire_hello_put(&client->hello);
    wire_sock_greet(client->sock, &client->greeting, hello);
    wire_msg_free(hello);
    return client;
}

/* Of the last news. */
static void
let_go(struct wire_client *client)
{
    wire_item_release(&client->item);
    wire_next_release(&client->next);
    wire_msg_free(client->msg);
    client->msg = NULL;
}

void
wire_client_close(struct wire_client *client)
{
    if (!client)
        return;
    wire_sock_close(client->sock);
    let_go(client);
    free(client);
}

/* ---- what comes in: 1 news, 0 none, -1 refused ------------------------- */

static int
refuse(struct wire_client *client, const struct wire_subject *subject,
       struct wire_news *news)
{
    const struct err plain = news->why;

    wire_refusal_tell(&client->refusal, client->sock, NULL, subject, &plain);
    if (*client->who.stage)
        err_set(&news->why, "%s: %.400s", client->who.stage, plain.msg);
    news->what = WIRE_REPORT;
    return tally_add(&client->refused, &news->why);
}

int
wire_client_refuse(struct wire_client *client, struct err *why)
{
    struct wire_news news = {.why = *why};
    struct wire_subject subject;
    int say;

    REQUIRE(client->msg);
    wire_subject_of(&subject, client->msg);
    say = refuse(client, &subject, &news);
    *why = news.why;
    return say;
}

static int
bad(struct wire_client *client, struct wire_news *news)
{
    struct wire_subject subject;

    wire_subject_of(&subject, client->msg);
    return refuse(client, &subject, news);
}

/* What could not be read.  Another version is refused by name. */
static int
unread(struct wire_client *client, struct wire_news *news, struct err *err)
{
    const struct wire_subject *subject = wire_sock_subject(client->sock);

    if (!is_in(client) && subject->version)
        return err_set(err, "'%.80s': %.400s", wire_sock_endpoint(client->sock),
                       news->why.msg);
    return refuse(client, subject, news);
}

/* From now on, each second. */
static void
show_life(struct wire_client *client)
{
    struct wire_msg *beat = wire_beat_put(&client->beat);

    wire_sock_beat(client->sock, beat);
    wire_msg_free(beat);
}

static int
take_hello(struct wire_client *client, struct wire_news *news, struct err *err)
{
    struct wire_hello who;

    if (wire_hello_get(&who, client->msg, &news->why))
        return bad(client, news);
    if (wire_hello_fits(&client->hello, &who, err)) {
        wire_refusal_last(client->wire, client->sock, err);
        return -1;
    }
    if (!wire_greeting_hello(&client->greeting))
        return 0;
    client->who = who;
    show_life(client);
    news->what = WIRE_JOINED;
    return 1;
}

static int
take_error(struct wire_client *client, struct wire_news *news, struct err *err)
{
    const char *at = wire_sock_endpoint(client->sock);
    struct wire_error error;
    int say;

    if (wire_error_get(&error, client->msg, &news->why))
        return bad(client, news);
    if (error.again) {
        wire_greeting_again(&client->greeting);
        return 0;
    }
    if (!*error.of.kind && error.id >= 0) // of a request, and we make none
        return 0;
    if (!*error.of.kind)
        return err_set(err, "refused by '%.80s': %.400s", at, error.reason);
    wire_refusal_words(&error, at, &news->why);
    news->what = WIRE_REPORT;
    news->at = error.of.at;
    say = tally_add(&client->told, &news->why);
    if (client->edge != WIRE_EDGE_BATCH || error.of.at.session < 0)
        return say;
    news->what = WIRE_UNWANTED;
    if (!say)
        *news->why.msg = '\0';
    return 1;
}

static int
take_next(struct wire_client *client, struct wire_news *news)
{
    if (wire_next_get(&client->next, client->msg, &news->why))
        return bad(client, news);
    news->what = WIRE_MESSAGE;
    news->msg = client->msg;
    return 1;
}

static int
take_end(struct wire_client *client, struct wire_news *news)
{
    struct wire_end end;

    if (wire_end_get(&end, client->msg, &news->why))
        return bad(client, news);
    news->at = end.at;
    news->what = end.over ? WIRE_OVER : WIRE_ENDED;
    return 1;
}

/* An item is of the run that the binder named, or that we did. */
static int
judge_run(const struct wire_client *client, struct err *err)
{
    const char *run = *client->who.run ? client->who.run : client->hello.run;

    if (!*client->item.run || !strcmp(client->item.run, run))
        return 0;
    return err_set(err, "item: of run '%s', this is run '%s'", client->item.run,
                   run);
}

static int
take_item(struct wire_client *client, struct wire_news *news)
{
    const int64_t size =
        client->hello.size ? client->hello.size : client->who.size;

    if (wire_item_get(&client->item, client->msg, size, &news->why) ||
        judge_run(client, &news->why))
        return bad(client, news);
    news->what = WIRE_MESSAGE;
    news->msg = client->msg;
    return 1;
}

static int
take(struct wire_client *client, struct wire_news *news, struct err *err)
{
    const enum wire_kind kind = wire_msg_kind(client->msg);
    struct wire_subject subject;

    if (kind == WIRE_HELLO)
        return take_hello(client, news, err);
    if (kind == WIRE_ERROR)
        return take_error(client, news, err);
    if (!is_in(client)) // meant for an earlier connection
        return 0;
    wire_subject_of(&subject, client->msg);
    if (subject.at.session >= 0 &&
        wire_session_judge(subject.at.session, &news->why))
        return bad(client, news);
    if (kind == WIRE_END)
        return take_end(client, news);
    if (kind == WIRE_ITEM && client->edge == WIRE_EDGE_PLAN)
        return take_item(client, news);
    if (kind == WIRE_NEXT && client->edge == WIRE_EDGE_BATCH)
        return take_next(client, news);
    err_set(&news->why, "%s sent %s, which has no use here", client->who.stage,
            wire_kind_name(kind));
    return bad(client, news);
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
    client->lost = wire_sock_lost(client->sock);
    return client->lost;
}

int
wire_client_next(struct wire_client *client, struct wire_news *news,
                 struct err *err)
{
    int rc = 0;

    *news = (struct wire_news){0};
    if (wire_refused(client->wire, &news->why)) {
        news->what = WIRE_REPORT;
        return 1;
    }
    while (!rc) {
        int got;

        let_go(client);
        *news = (struct wire_news){0};
        got = wire_sock_recv(client->sock, NULL, &client->msg, &news->why);
        if (got)
            rc = got < 0 ? unread(client, news, err) : take(client, news, err);
        else if (!look_again(client))
            break;
    }
    return rc;
}

/* ---- what the tool asks and does --------------------------------------- */

int
wire_client_joined(const struct wire_client *client)
{
    return is_in(client);
}

int
wire_client_trouble(const struct wire_client *client, struct err *why)
{
    if (is_in(client))
        return 0;
    if (!wire_sock_trouble(client->sock, why))
        err_set(why, "nobody has answered at '%.200s'",
                wire_sock_endpoint(client->sock));
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
    if (is_in(client))
        show_life(client);
}

int
wire_client_send(struct wire_client *client, struct wire_msg *msg)
{
    return is_in(client) && wire_sock_send(client->sock, NULL, msg) == 1;
}
