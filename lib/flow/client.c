#include <math.h>
#include <string.h>

#include "flow/client.h"
#include "util/clock.h"
#include "util/mem.h"

#include "greeting.h"
#include "link.h"
#include "request.h"

/* Seconds in which the reason why we end can leave: a process that exits at
 * once would lose it. */
static const double error_pause_s = 0.1;

struct flow_client {
    struct flow_link link;
    char *endpoint, *role;
    struct wire_limits limits;
    struct wire_hello who; /* the binder */
    struct flow_greeting greeting;
    int lost; /* the connection is lost; what it received is still read */
    struct flow_refusal refusal;
    struct wire_subject subject;     /* of the last message */
    struct wire_heartbeat heartbeat; /* ours, */
    double heartbeat_at;             /* and when the next one is due */
    struct wire_item item; /* of the last event, where it is an item */

    /* to a service */
    double report_every_s;
    struct flow_request pending;
    struct wire_msg *request; /* NULL: none */
    struct err unfit;         /* why the request cannot be sent; "": it can */
    uint64_t greetings;       /* hellos that completed one */
    double reported; /* time of the last report that no answer has come */
};

int
flow_client_joined(const struct flow_client *client)
{
    return client->greeting.state == FLOW_IN;
}

static void
send_and_free(struct flow_client *client, struct wire_msg *msg)
{
    wire_sock_send(client->link.sock, NULL, msg);
    wire_msg_free(msg);
}

/* Sends what is due, hello, or heartbeats to a binder that knows us; returns
 * the time of the next one. */
static double
send_due(void *self, int up, double now)
{
    struct flow_client *client = self;

    if (flow_greeting_turn(&client->greeting, up, now))
        send_and_free(client, wire_hello_put(&client->link.hello));
    if (!flow_client_joined(client))
        return flow_greeting_due(&client->greeting, up);
    if (now >= client->heartbeat_at) {
        client->heartbeat_at = now + WIRE_HEARTBEAT_S;
        send_and_free(client, wire_heartbeat_put(&client->heartbeat));
    }
    return client->heartbeat_at;
}

/* Closes the connection, if there is one, and makes a new one. */
static int
renew_connection(struct flow_client *client, struct err *err)
{
    wire_sock_close(client->link.sock);
    flow_greeting_lost(&client->greeting);
    client->lost = 0;
    client->link.sock =
        wire_sock_open(client->link.wire, WIRE_DEALER, client->endpoint,
                       client->role, &client->limits, err);
    if (!client->link.sock)
        return -1;
    wire_sock_on_tick(client->link.sock, send_due, client);
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
    client->report_every_s =
        config->report_every_s > 0 ? config->report_every_s : 10;
    client->pending = (struct flow_request){
        .timeout = config->timeout > 0 ? config->timeout : 5,
        .deadline = config->deadline > 0 ? config->deadline : 60,
        .last_id = (int64_t)(clock_wall() & INT64_MAX),
    };
    if (!renew_connection(client, err))
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
    wire_msg_free(client->request);
    flow_link_release(&client->link);
    mem_free(client->endpoint, client->role, client);
}

/* ---- receiving: 1 event, 0 none, -1 refused ----------------------------- */

/* Refuses the last message because of event->why: 1 when the event is to be
 * printed. */
static int
refuse_message(struct flow_client *client, struct flow_event *event)
{
    return flow_link_refuse(&client->link, NULL, &client->refusal,
                            *client->who.stage ? client->who.stage
                                               : client->endpoint,
                            &client->subject, event);
}

int
flow_client_refuse(struct flow_client *client, struct err *why)
{
    struct flow_event event = {.why = *why};
    const int print = refuse_message(client, &event);

    client->pending.waits = 1;
    *why = event.why;
    return print;
}

static int
on_hello(struct flow_client *client, struct flow_event *event, struct err *err)
{
    const struct wire_error unfit = {
        .id = -1, .of = {"hello", {-1, 0, 0}, 0}, .count = 1};
    struct wire_hello who;

    if (wire_hello_get(&who, client->link.msg, &event->why))
        return refuse_message(client, event);
    if (wire_hello_fits(&client->link.hello, &who, err)) {
        flow_link_error(&client->link, NULL, unfit, err->msg);
        wire_sock_wait(client->link.wire, NULL, -1, error_pause_s, &event->why);
        return -1;
    }
    if (!flow_greeting_hello(&client->greeting))
        return 0;
    client->who = who;
    client->heartbeat_at = clock_now() + WIRE_HEARTBEAT_S;
    event->kind = FLOW_JOINED;
    return 1;
}

static int
on_error(struct flow_client *client, struct flow_event *event, struct err *err)
{
    struct wire_error error;

    if (wire_error_get(&error, client->link.msg, &event->why))
        return refuse_message(client, event);
    switch (flow_error_about(&error)) {
    case FLOW_ABOUT_GREETING:
        flow_greeting_again(&client->greeting);
        return 0;
    case FLOW_ABOUT_REQUEST:
        return wire_edge_is_service(client->link.edge);
    case FLOW_ABOUT_US:
        return err_set(err, "refused by '%.80s': %.400s", client->endpoint,
                       error.reason);
    case FLOW_ABOUT_MESSAGE:
        break;
    }
    return flow_link_on_refusal(&client->link, &error, client->endpoint, event);
}

/* An item must be of the binder's run, or of ours where it named none. */
static int
get_item(struct flow_client *client, struct flow_event *event)
{
    const struct wire_hello *ours = &client->link.hello, *who = &client->who;
    const char *run = *who->run ? who->run : ours->run;
    struct wire_item *item = &client->item;

    event->item = item;
    if (wire_item_get(item, client->link.msg,
                      ours->size ? ours->size : who->size, &event->why))
        return -1;
    if (!*item->run || !strcmp(item->run, run))
        return 0;
    return err_set(&event->why, "item: of run '%s', this is run '%s'",
                   item->run, run);
}

static int
on_message(struct flow_client *client, struct flow_event *event,
           struct err *err)
{
    const enum wire_kind kind = wire_msg_kind(client->link.msg);

    wire_subject_of(&client->subject, client->link.msg);
    if (kind == WIRE_HELLO)
        return on_hello(client, event, err);
    if (kind == WIRE_ERROR)
        return on_error(client, event, err);
    if (!flow_client_joined(client)) // meant for an earlier connection
        return 0;
    if (wire_edge_is_service(
            client->link.edge)) // an answer: service.c checks it
        return 1;
    if (flow_link_check(&client->link, kind, &client->subject, &event->why) ||
        flow_link_decode(&client->link, event) ||
        (kind == WIRE_ITEM && get_item(client, event)))
        return refuse_message(client, event);
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
        return 0;
    }
    client->lost = wire_sock_lost(client->link.sock);
    return client->lost;
}

/* As flow_client_next(), without the reports of refused connections, which
 * concern the whole process. */
static int
read_message(struct flow_client *client, struct flow_event *event,
             struct err *err)
{
    int rc = 0;

    while (!rc) {
        int got;

        wire_item_release(&client->item);
        got = flow_link_read(&client->link, NULL, event);
        if (got > 0) {
            rc = on_message(client, event, err);
        } else if (got < 0) { // another version is refused by name
            client->subject = *wire_sock_subject(client->link.sock);
            if (!flow_client_joined(client) && client->subject.version)
                return err_set(err, "'%.80s': %.400s", client->endpoint,
                               event->why.msg);
            rc = refuse_message(client, event);
        } else if (!check_lost(client)) {
            break;
        }
    }
    return rc;
}

int
flow_client_next(struct flow_client *client, struct flow_event *event,
                 struct err *err)
{
    return flow_link_poll_refused(&client->link, event)
               ? 1
               : read_message(client, event, err);
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
}

int
flow_client_send(struct flow_client *client, struct wire_msg *msg)
{
    return flow_client_joined(client) &&
           wire_sock_send(client->link.sock, NULL, msg) == 1;
}

/* ---- the requesting end of a service ------------------------------------ */

int64_t
flow_client_next_id(struct flow_client *client)
{
    return flow_request_id(&client->pending);
}

uint64_t
flow_client_greetings(const struct flow_client *client)
{
    return client->greetings;
}

static void
send_request(struct flow_client *client)
{
    if (flow_client_joined(client) && client->request &&
        client->pending.waits && !*client->unfit.msg)
        wire_sock_send_when_connected(client->link.sock, client->request);
}

void
flow_client_ask(struct flow_client *client, struct wire_msg *request,
                int64_t id)
{
    REQUIRE(wire_edge_is_service(client->link.edge));
    wire_msg_free(client->request);
    client->request = wire_msg_hold(request);
    client->reported = clock_now();
    flow_request_begin(&client->pending, id, client->reported);
    *client->link.last.msg = '\0';
    *client->unfit.msg = '\0';
    if (!wire_edge_fits(client->link.edge, WIRE_CONNECTS, request,
                        &client->unfit) &&
        !flow_client_send(client, request))
        send_request(client);
}

/* Takes an answer, or an error about a request: 1 with *what it means, or 0 to
 * wait on. */
static int
on_answer(struct flow_client *client, struct flow_event *event,
          enum flow_answer *what, struct err *err)
{
    struct wire_error error;
    int64_t id;

    if (wire_msg_kind(event->msg) == WIRE_ERROR) {
        wire_error_get(&error, event->msg, &event->why);
        err_set(err, "%.80s answers: %.400s", client->endpoint, error.reason);
        return flow_request_receive(&client->pending, error.id, &error, what);
    }
    if (!wire_msg_id(event->msg, &id, &event->why))
        return flow_request_receive(&client->pending, id, NULL, what);
    *what = FLOW_BAD_MESSAGE;
    if (!refuse_message(client, event))
        return 0;
    *err = event->why;
    return 1;
}

/* Reads all pending messages, up to one that ends the wait: 1 with *what, else
 * 0.  The message of ANSWERED stays with the client. */
static int
read_answers(struct flow_client *client, enum flow_answer *what,
             struct err *err)
{
    struct flow_event event;
    int rc;

    while ((rc = read_message(client, &event, err)) > 0) {
        if (event.kind == FLOW_JOINED) {
            client->greetings++;
            send_request(client);
        }
        if (event.kind == FLOW_REPORT) {
            *err = event.why;
            *what = FLOW_BAD_MESSAGE;
            return 1;
        }
        if (event.kind == FLOW_MESSAGE && on_answer(client, &event, what, err))
            return 1;
    }
    if (!flow_client_joined(client)) // the answer to hello comes first
        wire_sock_send_when_connected(client->link.sock, NULL);
    *what = FLOW_REFUSED;
    return rc < 0;
}

int
flow_client_poll(struct flow_client *client, struct err *err)
{
    enum flow_answer what;

    wire_msg_free(client->request);
    client->request = NULL;
    while (read_answers(client, &what, err))
        if (what == FLOW_BAD_MESSAGE || what == FLOW_REFUSED)
            return what == FLOW_BAD_MESSAGE ? 1 : -1;
    return 0;
}

static enum flow_answer
give_up(const struct flow_client *client, struct err *err)
{
    const char *last = client->link.last.msg;

    if (*last)
        err_set(err,
                "no usable answer from '%.120s' in %g s; last error: %.250s",
                client->endpoint, client->pending.deadline, last);
    else
        err_set(err, "no answer from '%.200s' in %g s", client->endpoint,
                client->pending.deadline);
    return FLOW_UNREACHED;
}

/* Reports from time to time that no answer has come: 1 when it did. */
static int
report_wait(struct flow_client *client, double now, struct err *err)
{
    const double seconds = now - client->pending.begun;
    const char *last = client->link.last.msg;

    if (now - client->reported < client->report_every_s)
        return 0;
    client->reported = now;
    if (*last)
        err_set(err,
                "no usable answer from '%.120s' for %.0f seconds; last error: "
                "%.250s",
                client->endpoint, seconds, last);
    else
        err_set(err,
                "no answer from '%.200s' for %.0f seconds; start the stage "
                "that answers there again if it ended",
                client->endpoint, seconds);
    return 1;
}

enum flow_answer
flow_client_wait(struct flow_client *client, int stop_fd,
                 struct wire_msg **answer, struct err *err)
{
    struct flow_link *link = &client->link;
    enum flow_answer what;

    REQUIRE(client->request && client->pending.waits);
    if (*client->unfit.msg)
        return err_set(err, "%.80s: %.400s", client->endpoint,
                       client->unfit.msg);
    while (!read_answers(client, &what, err)) {
        const double now = clock_now();
        double until;
        int renew, rc = flow_request_turn(&client->pending, now, &until);

        if (rc < 0)
            return give_up(client, err);
        if (report_wait(client, now, err))
            return FLOW_BAD_MESSAGE;
        until = fmin(until, client->reported + client->report_every_s);
        // without an answer in time: pause, then send it on a new socket
        renew = rc;
        rc = wire_sock_wait(
            link->wire, renew ? NULL : link->sock, stop_fd,
            renew ? flow_request_pause(&client->pending) : until - now, err);
        if (rc <= 0)
            return rc ? FLOW_REFUSED : FLOW_STOPPED;
        if (!renew)
            continue;
        client->pending.sent = clock_now();
        if (renew_connection(client, err))
            return FLOW_REFUSED;
    }
    if (what == FLOW_ANSWERED) { // the answer is the caller's now
        *answer = link->msg;
        link->msg = NULL;
    }
    return what;
}
