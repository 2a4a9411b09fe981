#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/pack.h"
#include "wire/peers.h"
#include "wire/server.h"

enum { KEPT_MAX = 64 };

/* Seconds for which a peer whose queue is full is not asked to take more. */
static const double full_pause = 0.05;

/* The last answer to a peer, by the name that outlives its connection. */
struct kept {
    char name[64];
    int64_t id;
    uint64_t turn;
    struct wire_msg *msg;
};

struct wire_server {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_end_kind kind;
    struct wire_hello hello;
    struct wire_place at; /* session -1: not known yet */
    struct wire_peers peers;
    struct kept kept[KEPT_MAX];
    struct wire_tally bad;
    struct wire_msg *msg; /* of the news that is out */
    uint64_t turn;
};

struct wire_server *
wire_server_open(struct wire *wire, const struct wire_server_config *config,
                 struct err *err)
{
    struct wire_server *server = mem_array(1, sizeof *server);

    server->wire = wire;
    server->kind = config->kind;
    server->hello = config->hello;
    server->hello.version = WIRE_VERSION;
    server->at = config->at;
    if (config->kind != WIRE_CONSUMES)
        server->at.session = -1;
    server->sock = wire_sock_bind(wire, WIRE_ROUTER, config->endpoint,
                                  &config->limits, err);
    if (server->sock)
        return server;
    free(server);
    return NULL;
}

void
wire_server_close(struct wire_server *server)
{
    if (!server)
        return;
    wire_sock_close(server->sock);
    wire_msg_free(server->msg);
    for (size_t i = 0; i < KEPT_MAX; i++)
        wire_msg_free(server->kept[i].msg);
    wire_peers_release(&server->peers);
    free(server);
}

/* Send, and see whether the peer is gone: 1 sent, 0 not. */
static int
send_to(struct wire_server *server, struct wire_peer *peer,
        struct wire_msg *msg)
{
    int rc = wire_sock_send(server->sock, &peer->id, msg);

    if (rc < 0)
        wire_peers_leave(&server->peers, peer);
    if (rc == 0)
        peer->blocked = clock_now() + full_pause;
    return rc == 1;
}

/* A message of few bytes: who does not take even that does not read. */
static void
tell(struct wire_server *server, struct wire_peer *peer, struct wire_msg *msg)
{
    const uint64_t number = peer->number;

    if (!send_to(server, peer, msg)) {
        peer = wire_peers_by_number(&server->peers, number);
        if (peer)
            wire_peers_leave(&server->peers, peer);
    }
    wire_msg_free(msg);
}

/* Backwards: who is gone drops out of the table meanwhile. */
static void
tell_all(struct wire_server *server, struct wire_msg *msg)
{
    for (size_t i = server->peers.n; i-- > 0;)
        tell(server, &server->peers.peer[i], wire_msg_hold(msg));
    wire_msg_free(msg);
}

static void
refuse(struct wire_server *server, const struct wire_id *to, const char *reason,
       int again)
{
    struct wire_error error = {.again = again, .id = -1};
    struct wire_msg *msg;

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    msg = wire_error_put(&error);
    wire_sock_send(server->sock, to, msg);
    wire_msg_free(msg);
}

/* ---- what comes in: each returns 1 when there is news ------------------ */

static int
bad(struct wire_server *server, const struct wire_peer *peer,
    struct wire_news *news)
{
    struct err why = news->why;

    if (peer)
        err_set(&news->why, "%s %ju: %.400s", peer->hello.stage,
                (uintmax_t)peer->number, why.msg);
    news->what = WIRE_BAD;
    return wire_tally_add(&server->bad, &news->why);
}

static int
greet(struct wire_server *server, const struct wire_id *from,
      struct wire_msg *msg, struct wire_news *news)
{
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);
    const int known = peer != NULL;
    struct wire_hello hello;

    if (wire_hello_get(&hello, msg, &news->why) ||
        wire_hello_fits(&server->hello, &hello, &news->why)) {
        refuse(server, from, news->why.msg, 0);
        return bad(server, NULL, news);
    }
    if (!*server->hello.digest) {
        memcpy(server->hello.digest, hello.digest, sizeof hello.digest);
        server->hello.size = hello.size;
    }
    if (!known)
        peer = wire_peers_greet(&server->peers, from, &hello, clock_now());
    if (!peer) {
        refuse(server, from, "too many peers", 0);
        err_set(&news->why, "more than %d peers", WIRE_PEERS_MAX);
        return bad(server, NULL, news);
    }
    news->what = WIRE_JOINED;
    news->peer = peer->number;
    tell(server, peer, wire_hello_put(&server->hello));
    return !known;
}

static int
take_next(struct wire_server *server, struct wire_peer *peer,
          struct wire_msg *msg, struct wire_news *news)
{
    struct wire_next next;

    if (wire_next_get(&next, msg, &news->why))
        return bad(server, peer, news);
    news->at = next.at;
    if (next.at.session < server->at.session)
        return 0;
    if (next.credit)
        peer->told = 0;
    if (next.at.session > server->at.session) {
        for (size_t i = 0; i < server->peers.n; i++)
            server->peers.peer[i].credit = server->peers.peer[i].told = 0;
        server->at = next.at;
        peer->credit = (size_t)next.credit;
        news->what = WIRE_MOVED;
        return 1;
    }
    peer->credit += (size_t)next.credit;
    if (peer->credit > WIRE_CREDIT_MAX)
        peer->credit = WIRE_CREDIT_MAX;
    if (wire_place_cmp(&next.at, &server->at) <= 0)
        return 0;
    server->at = next.at;
    news->what = WIRE_PASSED;
    return 1;
}

/* done or end, from who consumes or who produces. */
static int
take_place(struct wire_server *server, struct wire_peer *peer,
           struct wire_msg *msg, struct wire_news *news)
{
    const int is_done = wire_msg_kind(msg) == WIRE_DONE;

    if (wire_place_get(&news->at, msg, &news->why))
        return bad(server, peer, news);
    if (news->at.session != server->at.session)
        return 0;
    news->what = is_done ? WIRE_PASSED : WIRE_ENDED;
    if (!is_done)
        return 1;
    if (wire_place_cmp(&news->at, &server->at) <= 0)
        return 0;
    server->at = news->at;
    return 1;
}

static int
take_batch(struct wire_server *server, struct wire_peer *peer,
           struct wire_news *news)
{
    if (!peer->credit) {
        err_set(&news->why, "sent a batch that nobody asked for");
        return bad(server, peer, news);
    }
    peer->credit--;
    return 1;
}

static const char *
name_of(const struct wire_peer *peer, char hex[2 * 31 + 1])
{
    if (*peer->hello.peer)
        return peer->hello.peer;
    *hex = 0;
    for (size_t i = 0; i < peer->id.len && i < 31; i++)
        snprintf(hex + 2 * i, 3, "%02x", peer->id.byte[i]);
    return hex;
}

static struct kept *
find_kept(struct wire_server *server, const struct wire_peer *peer)
{
    char hex[63];
    const char *name = name_of(peer, hex);

    for (size_t i = 0; i < KEPT_MAX; i++)
        if (server->kept[i].msg && !strcmp(server->kept[i].name, name))
            return &server->kept[i];
    return NULL;
}

/* A request: the answer that it had before, or news. */
static int
take_request(struct wire_server *server, struct wire_peer *peer,
             struct wire_msg *msg, struct wire_news *news)
{
    struct wire_reader r = wire_read_start(msg, &news->why);
    const int64_t id = wire_read_whole(&r, "id", 0, INT64_MAX);
    const struct kept *kept = find_kept(server, peer);

    if (r.rc)
        return bad(server, peer, news);
    if (!kept || kept->id != id)
        return 1;
    send_to(server, peer, kept->msg);
    return 0;
}

/* 1 when our kind of end has use for that kind of message. */
static int
expects(enum wire_end_kind end, enum wire_kind kind)
{
    switch (kind) {
    case WIRE_NEXT:
    case WIRE_DONE:
        return end == WIRE_PRODUCES;
    case WIRE_END:
    case WIRE_REJECT:
        return end != WIRE_SERVES;
    case WIRE_BATCH:
        return end == WIRE_CONSUMES;
    case WIRE_PAIRS:
    case WIRE_STATE:
    case WIRE_STATE_PUT:
        return end == WIRE_SERVES;
    case WIRE_BEAT:
        return 1;
    default:
        return 0;
    }
}

static int
take(struct wire_server *server, const struct wire_id *from,
     struct wire_msg *msg, struct wire_news *news)
{
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *role = wire_msg_role(msg);
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);

    if (*role && !wire_role_may(role, kind)) {
        err_set(&news->why, "a key of role '%s' may not send %s", role,
                wire_kind_name(kind));
        refuse(server, from, news->why.msg, 0);
        return bad(server, peer, news);
    }
    if (kind == WIRE_HELLO)
        return greet(server, from, msg, news);
    if (!peer) {
        refuse(server, from, "who are you? say hello", 1);
        return 0;
    }
    peer->heard = clock_now();
    news->what = WIRE_CAME;
    news->peer = peer->number;
    news->msg = msg;
    if (!expects(server->kind, kind)) {
        err_set(&news->why, "sent %s, which has no use here",
                wire_kind_name(kind));
        return bad(server, peer, news);
    }
    switch (kind) {
    case WIRE_BEAT:
        return 0;
    case WIRE_NEXT:
        return take_next(server, peer, msg, news);
    case WIRE_DONE:
    case WIRE_END:
        return take_place(server, peer, msg, news);
    case WIRE_BATCH:
        return take_batch(server, peer, news);
    case WIRE_REJECT:
        return 1;
    default:
        return take_request(server, peer, msg, news);
    }
}

int
wire_server_next(struct wire_server *server, struct wire_news *news,
                 struct err *err)
{
    (void)err; // nothing that a peer does ends the tool
    *news = (struct wire_news){0};
    if (wire_refused(server->wire, &news->why)) {
        news->what = WIRE_BAD;
        return 1;
    }
    for (;;) {
        struct wire_id from;
        int rc;

        wire_msg_free(server->msg);
        server->msg = NULL;
        *news = (struct wire_news){0};
        rc = wire_sock_recv(server->sock, &from, &server->msg, &news->why);
        if (rc == 0)
            break;
        if (rc < 0) {
            struct wire_peer *peer = wire_peers_by_id(&server->peers, &from);

            if (!peer)
                refuse(server, &from, news->why.msg, 0);
            if (bad(server, peer, news))
                return 1;
        } else if (take(server, &from, server->msg, news)) {
            return 1;
        }
    }
    if (server->kind != WIRE_SERVES)
        wire_peers_judge(&server->peers, clock_now());
    news->what = WIRE_LEFT;
    news->peer = wire_peers_left(&server->peers);
    return news->peer != 0;
}

/* ---- what the tool asks and does --------------------------------------- */

const struct wire_hello *
wire_server_hello(const struct wire_server *server)
{
    return &server->hello;
}

const char *
wire_server_endpoint(const struct wire_server *server)
{
    return wire_sock_endpoint(server->sock);
}

size_t
wire_server_peers(const struct wire_server *server)
{
    return server->peers.n;
}

uint64_t
wire_server_peer(const struct wire_server *server, size_t i)
{
    REQUIRE(i < server->peers.n);
    return server->peers.peer[i].number;
}

const struct wire_hello *
wire_server_who(const struct wire_server *server, uint64_t peer)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    return p ? &p->hello : NULL;
}

size_t
wire_server_credit(const struct wire_server *server, uint64_t peer)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    return p ? p->credit : 0;
}

int
wire_server_send(struct wire_server *server, uint64_t peer,
                 struct wire_msg *msg)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    if (!p || !send_to(server, p, msg))
        return 0;
    if (wire_msg_kind(msg) == WIRE_ITEM && p->credit) {
        p->credit--;
        p->served = ++server->turn;
    }
    return 1;
}

uint64_t
wire_server_asker(struct wire_server *server)
{
    const struct wire_peer *best = NULL;
    const double now = clock_now();

    for (size_t i = 0; i < server->peers.n; i++) {
        const struct wire_peer *peer = &server->peers.peer[i];

        if (peer->credit && peer->blocked <= now &&
            (!best || peer->served < best->served))
            best = peer;
    }
    return best ? best->number : 0;
}

struct wire_place
wire_server_place(const struct wire_server *server)
{
    return server->at;
}

void
wire_server_end(struct wire_server *server, const struct wire_place *at)
{
    for (size_t i = server->peers.n; i-- > 0;) {
        if (server->peers.peer[i].told)
            continue;
        server->peers.peer[i].told = 1;
        tell(server, &server->peers.peer[i], wire_place_put(WIRE_END, at));
    }
}

void
wire_server_more(struct wire_server *server, uint64_t peer, size_t k)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);
    const struct wire_next next = {server->at, (int64_t)k};

    REQUIRE(k <= WIRE_CREDIT_MAX);
    if (!p || !k)
        return;
    p->credit += k;
    tell(server, p, wire_next_put(&next));
}

void
wire_server_want(struct wire_server *server, uint64_t peer, size_t n)
{
    const size_t open = wire_server_credit(server, peer);

    if (n > open)
        wire_server_more(server, peer, n - open);
}

void
wire_server_done(struct wire_server *server, const struct wire_place *at)
{
    server->at = *at;
    tell_all(server, wire_place_put(WIRE_DONE, at));
}

void
wire_server_over(struct wire_server *server)
{
    tell_all(server, wire_place_put(WIRE_END, &server->at));
}

/* Where to keep an answer: the peer's own place, a free one, the oldest. */
static struct kept *
place_for(struct wire_server *server, const struct wire_peer *peer)
{
    struct kept *best = find_kept(server, peer);

    for (size_t i = 0; !best && i < KEPT_MAX; i++)
        if (!server->kept[i].msg)
            best = &server->kept[i];
    if (best)
        return best;
    best = server->kept;
    for (size_t i = 1; i < KEPT_MAX; i++)
        if (server->kept[i].turn < best->turn)
            best = &server->kept[i];
    return best;
}

int
wire_server_answer(struct wire_server *server, uint64_t peer, int64_t id,
                   struct wire_msg *msg)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);
    struct kept *kept;
    char hex[63];

    if (!p)
        return 0;
    if (wire_msg_kind(msg) != WIRE_ERROR) { // an error is no lasting answer
        kept = place_for(server, p);
        wire_msg_free(kept->msg);
        snprintf(kept->name, sizeof kept->name, "%s", name_of(p, hex));
        kept->id = id;
        kept->turn = ++server->turn;
        kept->msg = wire_msg_hold(msg);
    }
    return send_to(server, p, msg);
}

int
wire_server_bad(struct wire_server *server, uint64_t peer, struct err *why)
{
    struct wire_news news = {.why = *why};
    int say = bad(server, wire_peers_by_number(&server->peers, peer), &news);

    *why = news.why;
    return say;
}
