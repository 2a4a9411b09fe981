#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/clock.h"
#include "util/mem.h"

#include "binder.h"
#include "raw.h"

/* Seconds for which the last word waits for room in the queue of a peer that
 * is behind. */
static const double last_word = 2;

/* Bytes of what comes beside batches: signs of life, errors. */
static const size_t small = 1 << 20;

struct wire_server *
wire_server_open(struct wire *wire, const struct wire_server_config *config,
                 struct err *err)
{
    struct wire_server *server = mem_array(1, sizeof *server);
    struct wire_limits limits = config->limits;

    limits.edge = config->edge;
    server->wire = wire;
    server->edge = config->edge;
    server->peers.patient = wire_edge_serves(config->edge);
    server->hello = config->hello;
    server->judge = config->judge;
    server->self = config->self;
    server->hello.version = WIRE_VERSION;
    wire_hello_name(&server->hello);
    server->sock =
        wire_sock_bind(wire, WIRE_ROUTER, config->endpoint, &limits, err);
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
    wire_kept_release(&server->kept);
    wire_peers_release(&server->peers);
    free(server);
}

int
wire_server_next(struct wire_server *server, struct wire_news *news,
                 struct err *err)
{
    (void)err; // nothing that a peer does ends the tool
    *news = (struct wire_news){0};
    if (wire_refused(server->wire, &news->why)) {
        news->what = WIRE_REPORT;
        return 1;
    }
    for (;;) {
        struct wire_id from;
        int rc;

        wire_binder_settle(server);
        *news = (struct wire_news){0};
        rc = wire_sock_recv(server->sock, &from, &server->msg, &news->why);
        if (rc == 0)
            break;
        rc = rc < 0 ? wire_binder_unread(server, &from, news)
                    : wire_binder_take(server, &from, server->msg, news);
        server->from = rc && news->what == WIRE_MESSAGE ? news->peer : 0;
        if (rc)
            return 1;
    }
    wire_peers_part(&server->peers);
    if (!server->peers.patient)
        wire_peers_judge(&server->peers, clock_now());
    news->what = WIRE_LEFT;
    news->peer = wire_peers_left(&server->peers);
    return news->peer != 0;
}

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

/* One more: the next may be on its way while one is read. */
void
wire_server_expect(struct wire_server *server, size_t bytes, size_t n)
{
    wire_sock_expect(server->sock, (bytes + small) * (n + 1));
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

const struct wire_beat *
wire_server_beat(const struct wire_server *server, uint64_t peer)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    return p ? &p->beat : NULL;
}

int
wire_server_send(struct wire_server *server, uint64_t peer,
                 struct wire_msg *msg)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    return p && wire_binder_send(server, p, msg);
}

/* Whether all peers that are there are told. */
static int
dismiss(struct wire_server *server, struct wire_msg *end)
{
    int all = 1;

    for (size_t i = server->peers.n; i-- > 0;) {
        struct wire_peer *peer = &server->peers.peer[i];

        if (!peer->dismissed && !peer->gone)
            peer->dismissed = wire_binder_send(server, peer, end);
        all &= peer->dismissed || peer->gone;
    }
    return all;
}

void
wire_server_over(struct wire_server *server, const struct wire_place *at)
{
    const double until = clock_now() + last_word;
    const struct timespec pause = {.tv_nsec = 5000000};
    struct wire_msg *end = wire_end_put(&(struct wire_end){*at, 1});

    for (size_t i = 0; i < server->peers.n_silent; i++)
        wire_sock_send(server->sock, &server->peers.silent[i], end);
    while (!dismiss(server, end) && clock_now() < until)
        nanosleep(&pause, NULL);
    wire_msg_free(end);
}

int
wire_server_answer(struct wire_server *server, uint64_t peer, int64_t id,
                   struct wire_msg *msg)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);
    struct wire_error error = {.id = id};
    struct err why;

    if (!p)
        return 0;
    if (wire_edge_fits(server->edge, WIRE_BINDS, msg, &why)) {
        snprintf(error.reason, sizeof error.reason, "%s", why.msg);
        return wire_binder_tell(server, p, wire_error_put(&error));
    }
    if (wire_msg_kind(msg) != WIRE_ERROR) // an error is no lasting answer
        wire_kept_put(&server->kept, p->hello.peer, id, msg);
    return wire_binder_send(server, p, msg);
}

int
wire_server_reaches(struct wire_server *server, uint64_t peer)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);

    if (!p)
        return 0;
    wire_binder_tell(server, p, wire_hello_put(&server->hello));
    return !p->gone;
}

int
wire_server_refuse(struct wire_server *server, uint64_t peer, struct err *why)
{
    struct wire_peer *p = wire_peers_by_number(&server->peers, peer);
    struct wire_news news = {.why = *why};
    struct wire_subject subject;
    int say;

    REQUIRE(server->from == peer && !server->refused_it);
    server->refused_it = 1;
    if (!p)
        return 0;
    wire_subject_of(&subject, server->msg);
    say = wire_binder_refuse(server, p, &subject, &news);
    *why = news.why;
    return say;
}
