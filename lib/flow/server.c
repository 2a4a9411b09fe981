#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow/server.h"
#include "util/clock.h"
#include "util/mem.h"

#include "greeting.h"
#include "link.h"
#include "request.h"

/* Seconds for which the last message waits for room in a peer's full queue. */
static const double over_wait_s = 2;

/* Bytes for messages other than batches: heartbeats, errors. */
static const size_t other_bytes = 1 << 20;

struct flow_server {
    struct flow_link link;
    int (*check)(void *self, const struct wire_hello *hello, struct err *err);
    void *self;
    struct flow_peer_table peers;
    struct flow_answer_cache answers;
    struct tally unknown; /* messages of connections without hello */
    uint64_t from;        /* sender of the last event' message; 0: none */
    int tool_refused;     /* the tool refused that message */
};

struct flow_server *
flow_server_open(struct wire *wire, const struct flow_server_config *config,
                 struct err *err)
{
    struct flow_server *server = mem_array(1, sizeof *server);
    struct wire_limits limits = config->limits;

    limits.edge = config->edge;
    flow_link_init(&server->link, wire, config->edge, WIRE_BINDS,
                   &config->hello);
    server->peers.keeps_silent = wire_edge_is_service(config->edge);
    server->check = config->check;
    server->self = config->self;
    server->link.sock =
        wire_sock_open(wire, WIRE_ROUTER, config->endpoint, NULL, &limits, err);
    if (server->link.sock)
        return server;
    free(server);
    return NULL;
}

void
flow_server_close(struct flow_server *server)
{
    if (!server)
        return;
    flow_link_release(&server->link);
    flow_answer_cache_release(&server->answers);
    flow_peer_table_release(&server->peers);
    free(server);
}

/* Returns 1 when the message was sent, else 0.  A peer that is gone leaves when
 * all its messages are read.  A full queue means only a slow peer, which leaves
 * by silence alone. */
static int
send_peer(struct flow_server *server, struct flow_known_peer *peer,
          struct wire_msg *msg)
{
    const int rc =
        peer->gone ? -1 : wire_sock_send(server->link.sock, &peer->id, msg);

    peer->gone = rc < 0;
    return rc == 1;
}

static int
send_and_free(struct flow_server *server, struct flow_known_peer *peer,
              struct wire_msg *msg)
{
    int sent = send_peer(server, peer, msg);

    wire_msg_free(msg);
    return sent;
}

/* A hello is answered with ours. */
static int
send_hello(struct flow_server *server, struct flow_known_peer *peer)
{
    return send_and_free(server, peer, wire_hello_put(&server->link.hello));
}

/* Sends an error instead of the answer to a request. */
static int
send_failure(struct flow_server *server, struct flow_known_peer *peer,
             int64_t id, const struct err *why)
{
    struct wire_error error = {.id = id};

    snprintf(error.reason, sizeof error.reason, "%s", why->msg);
    return send_and_free(server, peer, wire_error_put(&error));
}

/* Errors for a connection that is refused, or has to send hello. */
static const struct wire_error refused = {.id = -1};
static const struct wire_error hello_wanted = {.id = -1, .rehello = 1};

/* ---- refusals: 1 when one is to be printed ----------------------------- */

/* A peer's name in messages to the user. */
static struct err
name_peer(const struct flow_known_peer *peer)
{
    struct err name;

    err_set(&name, "%s %ju '%s'", peer->hello.stage, (uintmax_t)peer->number,
            peer->hello.peer);
    return name;
}

static int
refuse_message(struct flow_server *server, struct flow_known_peer *peer,
               const struct wire_subject *subject, struct flow_event *event)
{
    const int last =
        peer->refusal.streak + 1 == FLOW_REFUSALS_MAX && !peer->gone;
    struct err name = name_peer(peer), why;
    int print;

    if (last)
        err_set(&name,
                "%.200s is disconnected after %d refused messages in a "
                "row, the last",
                name_peer(peer).msg, FLOW_REFUSALS_MAX);
    print = flow_link_refuse(&server->link, &peer->id, &peer->refusal, name.msg,
                             subject, event);
    if (last) { // the peer, if it is a tool of foil, exits with that reason
        err_set(&why, "disconnected after %u refused messages in a row: %.300s",
                peer->refusal.streak, server->link.last.msg);
        flow_link_error(&server->link, &peer->id, refused, why.msg);
        peer->gone = 1;
    }
    return print || last;
}

/* Refuse an unknown connection for good. */
static int
refuse_connection(struct flow_server *server, const struct wire_id *from,
                  struct flow_event *event)
{
    flow_link_error(&server->link, from, refused, event->why.msg);
    event->kind = FLOW_REPORT;
    return tally_add(&server->link.refused, &event->why);
}

/* Request the hello of a connection.  After a restart of the binder all peers
 * need that, so a valid message is no alarm. */
static int
request_hello(struct flow_server *server, const struct wire_id *from,
              const char *kind, int is_good, struct flow_event *event)
{
    if (flow_peer_table_unknown(&server->peers, from, clock_now()))
        flow_link_error(&server->link, from, hello_wanted,
                        "unknown peer: send hello first");
    err_set(&event->why,
            is_good ? "a peer at '%.200s' is asked for a new hello, as after a "
                      "restart or a pause: it sent %s"
                    : "a peer at '%.200s' sent '%s' before its hello",
            wire_sock_endpoint(server->link.sock), kind);
    event->kind = FLOW_REPORT;
    return tally_add(&server->unknown, &event->why);
}

static int
on_unreadable(struct flow_server *server, const struct wire_id *from,
              struct flow_event *event)
{
    const struct wire_subject *subject = wire_sock_subject(server->link.sock);
    struct flow_known_peer *peer = flow_peer_table_by_id(&server->peers, from);

    if (peer)
        return refuse_message(server, peer, subject, event);
    if (subject->version)
        return refuse_connection(server, from, event);
    return request_hello(server, from, subject->kind, 0, event);
}

/* ---- receiving: 1 when there is an event ------------------------------- */

static int
on_hello(struct flow_server *server, const struct wire_id *from,
         struct wire_msg *msg, struct flow_event *event)
{
    struct wire_hello hello, *mine = &server->link.hello;
    struct flow_known_peer *peer;

    if (wire_hello_get(&hello, msg, &event->why) ||
        wire_hello_fits(&server->link.hello, &hello, &event->why) ||
        (server->link.edge == WIRE_EDGE_BATCH && !*hello.recipe &&
         err_set(&event->why,
                 "hello: 'recipe' is missing: a peer that sends views has to "
                 "send the recipe that makes them")) ||
        (server->check && server->check(server->self, &hello, &event->why)))
        return refuse_connection(server, from, event);
    // what we do not know yet of the data set is that of the first peer: an
    // augmenter, or the trainer of a negatives service
    if (!*mine->digest && server->link.edge != WIRE_EDGE_FEATURES) {
        memcpy(mine->digest, hello.digest, sizeof mine->digest);
        mine->size = hello.size;
    }
    if (!*mine->recipe && server->link.edge != WIRE_EDGE_FEATURES)
        memcpy(mine->recipe, hello.recipe, sizeof mine->recipe);
    switch (flow_peer_table_greet(&server->peers, from, &hello, clock_now(),
                                  &peer)) {
    case FLOW_TABLE_FULL:
        err_set(&event->why, "more than %d peers", FLOW_PEERS_MAX);
        return refuse_connection(server, from, event);
    case FLOW_KNOWN:
        send_hello(server, peer);
        return 0;
    case FLOW_ADDED:
        break;
    }
    wire_sock_admit(server->link.sock);
    send_hello(server, peer);
    event->kind = FLOW_JOINED;
    event->peer = peer->number;
    return 1;
}

/* Answers a request from the cache, or makes it an event.  A request with an id
 * that is too low fails: it is late, or the ids of the peer do not rise. */
static int
on_request(struct flow_server *server, struct flow_known_peer *peer,
           const struct wire_subject *subject, struct flow_event *event)
{
    struct wire_msg *answer;
    int64_t id;

    if (wire_msg_id(event->msg, &id, &event->why))
        return refuse_message(server, peer, subject, event);
    answer = flow_answer_cache_find(&server->answers, peer->hello.peer, id);
    if (answer) {
        send_peer(server, peer, answer);
        return 0;
    }
    if (!flow_answer_cache_late(&server->answers, peer->hello.peer, id))
        return 1;
    err_set(&event->why,
            "a request with a larger id than %jd was answered: ids rise",
            (intmax_t)id);
    send_failure(server, peer, id, &event->why);
    return 0;
}

static int
on_message(struct flow_server *server, const struct wire_id *from,
           struct flow_event *event)
{
    struct wire_msg *msg = server->link.msg;
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *role = wire_msg_role(msg);
    struct flow_known_peer *peer = flow_peer_table_by_id(&server->peers, from);
    struct wire_subject subject;
    struct wire_error error;

    wire_subject_of(&subject, msg);
    if (*role &&
        !wire_edge_allows_role(server->link.edge, WIRE_CONNECTS, role)) {
        err_set(&event->why, "a key of role '%s' may not send %s on edge %s",
                role, wire_kind_name(kind), wire_edge_name(server->link.edge));
        return peer ? refuse_message(server, peer, &subject, event)
                    : refuse_connection(server, from, event);
    }
    if (kind == WIRE_HELLO)
        return on_hello(server, from, msg, event);
    if (!peer)
        return request_hello(
            server, from, wire_kind_name(kind),
            wire_edge_allows_kind(server->link.edge, WIRE_CONNECTS, kind),
            event);
    peer->last_seen = clock_now();
    event->peer = peer->number;
    if (flow_link_check(&server->link, kind, &subject, &event->why) ||
        (kind == WIRE_HEARTBEAT &&
         wire_heartbeat_get(&peer->heartbeat, msg, &event->why)))
        return refuse_message(server, peer, &subject, event);
    if (kind == WIRE_HEARTBEAT)
        return 0;
    if (kind == WIRE_ERROR)
        return wire_error_get(&error, msg, &event->why)
                   ? refuse_message(server, peer, &subject, event)
                   : flow_link_on_refusal(&server->link, &error,
                                          name_peer(peer).msg, event);
    if (wire_edge_is_service(server->link.edge))
        return on_request(server, peer, &subject, event);
    return !flow_link_decode(&server->link, event) ||
           refuse_message(server, peer, &subject, event);
}

/* The last message was good, unless the tool refused it. */
static void
finish_last(struct flow_server *server)
{
    struct flow_known_peer *peer =
        flow_peer_table_by_number(&server->peers, server->from);

    if (peer && !server->tool_refused)
        flow_refusal_good(&peer->refusal, wire_msg_kind(server->link.msg));
    server->from = 0;
    server->tool_refused = 0;
}

int
flow_server_next(struct flow_server *server, struct flow_event *event)
{
    struct wire_id from;
    int rc;

    if (flow_link_poll_refused(&server->link, event))
        return 1;
    while (finish_last(server),
           (rc = flow_link_read(&server->link, &from, event))) {
        rc = rc < 0 ? on_unreadable(server, &from, event)
                    : on_message(server, &from, event);
        if (!rc)
            continue;
        if (event->kind == FLOW_MESSAGE || event->kind == FLOW_ENDED ||
            event->kind == FLOW_OVER) // the tool may refuse it
            server->from = event->peer;
        return 1;
    }
    flow_peer_table_remove_gone(&server->peers);
    if (!server->peers.keeps_silent)
        flow_peer_table_expire(&server->peers, clock_now());
    event->kind = FLOW_LEFT;
    event->peer = flow_peer_table_left(&server->peers);
    return event->peer != 0;
}

const struct wire_hello *
flow_server_hello(const struct flow_server *server)
{
    return &server->link.hello;
}

const char *
flow_server_endpoint(const struct flow_server *server)
{
    return wire_sock_endpoint(server->link.sock);
}

/* One more: another may be in transit while one is read. */
void
flow_server_expect(struct flow_server *server, size_t bytes, size_t n)
{
    wire_sock_expect(server->link.sock, (bytes + other_bytes) * (n + 1));
}

size_t
flow_server_peers(const struct flow_server *server)
{
    return server->peers.n;
}

uint64_t
flow_server_peer(const struct flow_server *server, size_t i)
{
    REQUIRE(i < server->peers.n);
    return server->peers.peer[i].number;
}

const struct wire_hello *
flow_server_peer_hello(const struct flow_server *server, uint64_t peer)
{
    struct flow_known_peer *p = flow_peer_table_by_number(&server->peers, peer);

    return p ? &p->hello : NULL;
}

const struct wire_heartbeat *
flow_server_heartbeat(const struct flow_server *server, uint64_t peer)
{
    struct flow_known_peer *p = flow_peer_table_by_number(&server->peers, peer);

    return p ? &p->heartbeat : NULL;
}

int
flow_server_send(struct flow_server *server, uint64_t peer,
                 struct wire_msg *msg)
{
    struct flow_known_peer *p = flow_peer_table_by_number(&server->peers, peer);

    return p && send_peer(server, p, msg);
}

void
flow_server_send_over(struct flow_server *server, const struct wire_place *at)
{
    const double until = clock_now() + over_wait_s;
    const struct timespec pause = {.tv_nsec = 5000000};
    struct wire_msg *end = wire_end_put(&(struct wire_end){*at, 1});
    int all;

    for (size_t i = 0; i < server->peers.n_silent; i++)
        wire_sock_send(server->link.sock, &server->peers.silent[i], end);
    do {
        all = 1;
        for (size_t i = server->peers.n; i-- > 0;) {
            struct flow_known_peer *peer = &server->peers.peer[i];

            if (!peer->over_sent && !peer->gone)
                peer->over_sent = send_peer(server, peer, end);
            all &= peer->over_sent || peer->gone;
        }
        if (!all)
            nanosleep(&pause, NULL);
    } while (!all && clock_now() < until);
    wire_msg_free(end);
}

int
flow_server_answer(struct flow_server *server, uint64_t peer, int64_t id,
                   struct wire_msg *msg)
{
    struct flow_known_peer *p = flow_peer_table_by_number(&server->peers, peer);
    struct err why;

    if (!p)
        return 0;
    if (wire_edge_fits(server->link.edge, WIRE_BINDS, msg, &why))
        return send_failure(server, p, id, &why);
    if (wire_msg_kind(msg) != WIRE_ERROR) // an error is no lasting answer
        flow_answer_cache_put(&server->answers, p->hello.peer, id, msg);
    return send_peer(server, p, msg);
}

int
flow_server_ping(struct flow_server *server, uint64_t peer)
{
    struct flow_known_peer *p = flow_peer_table_by_number(&server->peers, peer);

    if (!p)
        return 0;
    send_hello(server, p);
    return !p->gone;
}

int
flow_server_refuse(struct flow_server *server, struct flow_event *event)
{
    struct flow_known_peer *peer =
        flow_peer_table_by_number(&server->peers, event->peer);
    struct wire_subject subject;

    REQUIRE(server->from == event->peer && !server->tool_refused);
    server->tool_refused = 1;
    if (!peer)
        return 0;
    wire_subject_of(&subject, server->link.msg);
    return refuse_message(server, peer, &subject, event);
}
