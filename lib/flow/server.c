#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow/hello.h"
#include "flow/server.h"
#include "util/clock.h"
#include "util/mem.h"

#include "link.h"
#include "request.h"
#include "roll.h"

/* Seconds for which the last word waits for room in the queue of a peer that
 * is behind. */
static const double last_word = 2;

/* Bytes of what comes beside batches: signs of life, errors. */
static const size_t small = 1 << 20;

struct flow_server {
    struct flow_link link;
    int (*check)(void *self, const struct wire_hello *hello, struct err *err);
    void *self;
    struct flow_roll peers;
    struct flow_kept kept;
    struct tally strangers; /* messages of peers without hello */
    uint64_t from;          /* sender of the message that is out; 0: none */
    int refused_it;         /* by the tool */
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
    server->peers.patient = wire_edge_serves(config->edge);
    server->check = config->check;
    server->self = config->self;
    server->link.sock =
        wire_sock_bind(wire, WIRE_ROUTER, config->endpoint, &limits, err);
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
    flow_kept_release(&server->kept);
    flow_roll_release(&server->peers);
    free(server);
}

/* ---- what goes out ----------------------------------------------------- */

/* What became of a message to a peer: 1 sent, 0 not.  A peer that is gone
 * leaves when all is read that it sent; one whose queue is full is only behind:
 * silence ends it, not this. */
static int
note_sent(struct flow_greeted *peer, int rc)
{
    if (rc < 0)
        peer->gone = 1;
    return rc == 1;
}

static int
send_peer(struct flow_server *server, struct flow_greeted *peer,
          struct wire_msg *msg)
{
    return note_sent(
        peer,
        peer->gone ? -1 : wire_sock_send(server->link.sock, &peer->id, msg));
}

/* The same, and frees msg. */
static int
tell_peer(struct flow_server *server, struct flow_greeted *peer,
          struct wire_msg *msg)
{
    int sent = send_peer(server, peer, msg);

    wire_msg_free(msg);
    return sent;
}

/* Our own hello is the answer to one. */
static int
tell_hello(struct flow_server *server, struct flow_greeted *peer)
{
    return tell_peer(server, peer, wire_hello_put(&server->link.hello));
}

/* Tells a peer that its request has no answer, and why. */
static int
tell_failure(struct flow_server *server, struct flow_greeted *peer, int64_t id,
             const struct err *why)
{
    const struct wire_error error = {.id = id};

    return note_sent(
        peer, peer->gone
                  ? -1
                  : flow_link_error(&server->link, &peer->id, error, why->msg));
}

/* A connection is not welcome, or is to say hello. */
static const struct wire_error unwelcome = {.id = -1};
static const struct wire_error greet_us = {.id = -1, .again = 1};

/* ---- what is refused: 1 when that is to be printed --------------------- */

/*
 * A peer that goes on sending what will not do is sent away: a tool of ours
 * ends with that reason, and what it held goes to others.
 */
static void
send_away(struct flow_server *server, struct flow_greeted *peer)
{
    struct err last;

    err_set(&last, "sent away after %u messages in a row were refused: %.300s",
            peer->refusal.row, server->link.last.msg);
    flow_link_error(&server->link, &peer->id, unwelcome, last.msg);
    peer->gone = 1;
}

/* A peer, for people. */
static struct err
name_peer(const struct flow_greeted *peer)
{
    struct err name;

    err_set(&name, "%s %ju '%s'", peer->hello.stage, (uintmax_t)peer->number,
            peer->hello.peer);
    return name;
}

static int
refuse_message(struct flow_server *server, struct flow_greeted *peer,
               const struct wire_subject *subject, struct flow_news *news)
{
    const int last = peer->refusal.row + 1 == FLOW_REFUSALS_MAX && !peer->gone;
    struct err name = name_peer(peer);
    int say;

    if (last)
        err_set(&name,
                "%.200s is sent away: %d messages in a row were "
                "refused, the last",
                name_peer(peer).msg, FLOW_REFUSALS_MAX);
    say = flow_link_refuse(&server->link, &peer->id, &peer->refusal, name.msg,
                           subject, news);
    if (last)
        send_away(server, peer);
    return say || last;
}

/* The same of a connection that is not known: it has no use for another try. */
static int
turn_away(struct flow_server *server, const struct wire_id *from,
          struct flow_news *news)
{
    flow_link_error(&server->link, from, unwelcome, news->why.msg);
    news->what = FLOW_REPORT;
    return tally_add(&server->link.refused, &news->why);
}

/* A peer that has not said hello is asked to.  All peers of a binder that was
 * restarted are like that, so a message that would be good is no alarm. */
static int
ask_stranger(struct flow_server *server, const struct wire_id *from,
             const char *kind, int is_good, struct flow_news *news)
{
    if (flow_roll_again(&server->peers, from, clock_now()))
        flow_link_error(&server->link, from, greet_us,
                        "who are you? say hello");
    err_set(&news->why,
            is_good ? "a peer at '%.200s' is asked to say hello again, as "
                      "after a restart or a pause: it sent %s"
                    : "a peer at '%.200s' sent '%s' before it said hello",
            wire_sock_endpoint(server->link.sock), kind);
    news->what = FLOW_REPORT;
    return tally_add(&server->strangers, &news->why);
}

static int
on_unread(struct flow_server *server, const struct wire_id *from,
          struct flow_news *news)
{
    const struct wire_subject *subject = wire_sock_subject(server->link.sock);
    struct flow_greeted *peer = flow_roll_by_id(&server->peers, from);

    if (peer)
        return refuse_message(server, peer, subject, news);
    if (subject->version)
        return turn_away(server, from, news);
    return ask_stranger(server, from, subject->kind, 0, news);
}

/* ---- what comes in: 1 when there is news ------------------------------- */

/* What we did not know yet of the data is as the first peer says: an augmenter,
 * or to a negatives service its trainer.  A peer that asks for features
 * teaches nothing.
 */
static void
learn_data(struct flow_server *server, const struct wire_hello *theirs)
{
    struct wire_hello *mine = &server->link.hello;

    if (server->link.edge == WIRE_EDGE_FEATURES)
        return;
    if (!*mine->digest) {
        memcpy(mine->digest, theirs->digest, sizeof mine->digest);
        mine->size = theirs->size;
    }
    if (!*mine->recipe)
        memcpy(mine->recipe, theirs->recipe, sizeof mine->recipe);
}

/* A peer that brings views says what they were made by, so that all make the
 * same. */
static int
check_recipe(const struct flow_server *server, const struct wire_hello *hello,
             struct err *err)
{
    if (server->link.edge != WIRE_EDGE_BATCH || *hello->recipe)
        return 0;
    return err_set(err, "hello: 'recipe' is missing: a peer that brings views "
                        "says what they are made by");
}

static int
on_hello(struct flow_server *server, const struct wire_id *from,
         struct wire_msg *msg, struct flow_news *news)
{
    struct wire_hello hello;
    struct flow_greeted *peer;

    if (wire_hello_get(&hello, msg, &news->why) ||
        flow_hello_fits(&server->link.hello, &hello, &news->why) ||
        check_recipe(server, &hello, &news->why) ||
        (server->check && server->check(server->self, &hello, &news->why)))
        return turn_away(server, from, news);
    learn_data(server, &hello);
    switch (flow_roll_greet(&server->peers, from, &hello, clock_now(), &peer)) {
    case FLOW_CROWDED:
        err_set(&news->why, "more than %d peers", FLOW_PEERS_MAX);
        return turn_away(server, from, news);
    case FLOW_KNOWN:
        tell_hello(server, peer);
        return 0;
    case FLOW_ENTERED:
        break;
    }
    wire_sock_admit(server->link.sock);
    tell_hello(server, peer);
    news->what = FLOW_JOINED;
    news->peer = peer->number;
    return 1;
}

/* A request: the answer that it had before, or news.  One that is late, or of a
 * peer whose ids do not rise, fails. */
static int
on_request(struct flow_server *server, struct flow_greeted *peer,
           const struct wire_subject *subject, struct flow_news *news)
{
    struct wire_msg *answer;
    int64_t id;

    if (wire_msg_id(news->msg, &id, &news->why))
        return refuse_message(server, peer, subject, news);
    answer = flow_kept_find(&server->kept, peer->hello.peer, id);
    if (answer) {
        send_peer(server, peer, answer);
        return 0;
    }
    if (!flow_kept_late(&server->kept, peer->hello.peer, id))
        return 1;
    err_set(&news->why,
            "a request with a larger id than %jd was answered: ids rise",
            (intmax_t)id);
    tell_failure(server, peer, id, &news->why);
    return 0;
}

static int
on_error(struct flow_server *server, struct flow_greeted *peer,
         const struct wire_subject *subject, struct flow_news *news)
{
    const struct err name = name_peer(peer);
    struct wire_error error;

    if (wire_error_get(&error, news->msg, &news->why))
        return refuse_message(server, peer, subject, news);
    return flow_link_told(&server->link, &error, name.msg, news);
}

static int
on_message(struct flow_server *server, const struct wire_id *from,
           struct flow_news *news)
{
    struct wire_msg *msg = server->link.msg;
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *role = wire_msg_role(msg);
    struct flow_greeted *peer = flow_roll_by_id(&server->peers, from);
    struct wire_subject subject;

    wire_subject_of(&subject, msg);
    if (*role && !wire_edge_takes(server->link.edge, WIRE_CONNECTS, role)) {
        err_set(&news->why, "a key of role '%s' may not send %s on edge %s",
                role, wire_kind_name(kind), wire_edge_name(server->link.edge));
        return peer ? refuse_message(server, peer, &subject, news)
                    : turn_away(server, from, news);
    }
    if (kind == WIRE_HELLO)
        return on_hello(server, from, msg, news);
    if (!peer)
        return ask_stranger(
            server, from, wire_kind_name(kind),
            wire_edge_may(server->link.edge, WIRE_CONNECTS, kind), news);
    peer->heard = clock_now();
    news->peer = peer->number;
    if (flow_link_check(&server->link, kind, &subject, &news->why) ||
        (kind == WIRE_BEAT && wire_beat_get(&peer->beat, msg, &news->why)))
        return refuse_message(server, peer, &subject, news);
    if (kind == WIRE_BEAT)
        return 0;
    if (kind == WIRE_ERROR)
        return on_error(server, peer, &subject, news);
    if (wire_edge_serves(server->link.edge))
        return on_request(server, peer, &subject, news);
    return !flow_link_decode(&server->link, news) ||
           refuse_message(server, peer, &subject, news);
}

/* Whether the tool may refuse the message of that news. */
static int
is_from_peer(enum flow_what what)
{
    return what == FLOW_MESSAGE || what == FLOW_ENDED || what == FLOW_OVER;
}

/* The message of the last news was a good one, unless the tool refused it. */
static void
settle_last(struct flow_server *server)
{
    struct flow_greeted *peer =
        flow_roll_by_number(&server->peers, server->from);

    if (peer && !server->refused_it)
        flow_refusal_good(&peer->refusal, wire_msg_kind(server->link.msg));
    server->from = 0;
    server->refused_it = 0;
}

int
flow_server_next(struct flow_server *server, struct flow_news *news,
                 struct err *err)
{
    struct wire_id from;
    int rc;

    (void)err; // nothing that a peer does ends the tool
    if (flow_link_look(&server->link, news))
        return 1;
    while (settle_last(server),
           (rc = flow_link_read(&server->link, &from, news))) {
        rc = rc < 0 ? on_unread(server, &from, news)
                    : on_message(server, &from, news);
        server->from = rc && is_from_peer(news->what) ? news->peer : 0;
        if (rc)
            return 1;
    }
    flow_roll_part(&server->peers);
    if (!server->peers.patient)
        flow_roll_expire(&server->peers, clock_now());
    news->what = FLOW_LEFT;
    news->peer = flow_roll_left(&server->peers);
    return news->peer != 0;
}

/* ---- what the tool asks and does --------------------------------------- */

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

/* One more: the next may be on its way while one is read. */
void
flow_server_expect(struct flow_server *server, size_t bytes, size_t n)
{
    wire_sock_expect(server->link.sock, (bytes + small) * (n + 1));
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
flow_server_who(const struct flow_server *server, uint64_t peer)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);

    return p ? &p->hello : NULL;
}

const struct wire_beat *
flow_server_beat(const struct flow_server *server, uint64_t peer)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);

    return p ? &p->beat : NULL;
}

int
flow_server_send(struct flow_server *server, uint64_t peer,
                 struct wire_msg *msg)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);

    return p && send_peer(server, p, msg);
}

/* Whether all peers that are there are told. */
static int
dismiss_all(struct flow_server *server, struct wire_msg *end)
{
    int all = 1;

    for (size_t i = server->peers.n; i-- > 0;) {
        struct flow_greeted *peer = &server->peers.peer[i];

        if (!peer->dismissed && !peer->gone)
            peer->dismissed = send_peer(server, peer, end);
        all &= peer->dismissed || peer->gone;
    }
    return all;
}

void
flow_server_over(struct flow_server *server, const struct wire_place *at)
{
    const double until = clock_now() + last_word;
    const struct timespec pause = {.tv_nsec = 5000000};
    struct wire_msg *end = wire_end_put(&(struct wire_end){*at, 1});

    for (size_t i = 0; i < server->peers.n_silent; i++)
        wire_sock_send(server->link.sock, &server->peers.silent[i], end);
    while (!dismiss_all(server, end) && clock_now() < until)
        nanosleep(&pause, NULL);
    wire_msg_free(end);
}

int
flow_server_answer(struct flow_server *server, uint64_t peer, int64_t id,
                   struct wire_msg *msg)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);
    struct err why;

    if (!p)
        return 0;
    if (wire_edge_fits(server->link.edge, WIRE_BINDS, msg, &why))
        return tell_failure(server, p, id, &why);
    if (wire_msg_kind(msg) != WIRE_ERROR) // an error is no lasting answer
        flow_kept_put(&server->kept, p->hello.peer, id, msg);
    return send_peer(server, p, msg);
}

int
flow_server_reaches(struct flow_server *server, uint64_t peer)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);

    if (!p)
        return 0;
    tell_hello(server, p);
    return !p->gone;
}

int
flow_server_refuse(struct flow_server *server, uint64_t peer, struct err *why)
{
    struct flow_greeted *p = flow_roll_by_number(&server->peers, peer);
    struct flow_news news = {.why = *why};
    struct wire_subject subject;
    int say;

    REQUIRE(server->from == peer && !server->refused_it);
    server->refused_it = 1;
    if (!p)
        return 0;
    wire_subject_of(&subject, server->link.msg);
    say = refuse_message(server, p, &subject, &news);
    *why = news.why;
    return say;
}
