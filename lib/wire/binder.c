#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "wire/binder.h"
#include "wire/pack.h"

/* Seconds for which a peer whose queue is full is not asked to take more. */
static const double full_pause = 0.05;

/* Send, and see whether the peer is gone: 1 sent, 0 not. */
int
wire_binder_send(struct wire_server *server, struct wire_peer *peer,
                 struct wire_msg *msg)
{
    int rc = peer->gone ? -1 : wire_sock_send(server->sock, &peer->id, msg);

    if (rc < 0)
        peer->gone = 1; // it leaves when its last words are read
    if (rc == 0)
        peer->blocked = clock_now() + full_pause;
    return rc == 1;
}

/* A full queue only means that the peer is behind: silence ends it, not this.
 */
int
wire_binder_tell(struct wire_server *server, struct wire_peer *peer,
                 struct wire_msg *msg)
{
    int sent = wire_binder_send(server, peer, msg);

    wire_msg_free(msg);
    return sent;
}

void
wire_binder_refuse(struct wire_server *server, const struct wire_id *to,
                   const char *reason, int again)
{
    struct wire_error error = {.again = again, .id = -1};
    struct wire_msg *msg;

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    msg = wire_error_put(&error);
    wire_sock_send(server->sock, to, msg);
    wire_msg_free(msg);
}

int
wire_binder_bad(struct wire_server *server, const struct wire_peer *peer,
                struct wire_news *news)
{
    struct err why = news->why;

    if (peer)
        err_set(&news->why, "%s %ju: %.400s", peer->hello.stage,
                (uintmax_t)peer->number, why.msg);
    news->what = WIRE_BAD;
    return wire_tally_add(&server->bad, &news->why);
}

/*
 * Who asks a service is silent between requests, so silence tells nothing
 * there: the one that was so for longest makes room.
 */
static struct wire_peer *
admit(struct wire_server *server, const struct wire_id *from,
      const struct wire_hello *hello)
{
    struct wire_peers *peers = &server->peers;
    struct wire_peer *oldest = peers->peer;

    for (size_t i = 0; i < peers->n; i++)
        if (peers->peer[i].heard < oldest->heard)
            oldest = &peers->peer[i];
    if (server->kind == WIRE_SERVES && peers->n == WIRE_PEERS_MAX)
        wire_peers_leave(peers, oldest);
    return wire_peers_greet(peers, from, hello, clock_now());
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
        wire_binder_refuse(server, from, news->why.msg, 0);
        return wire_binder_bad(server, NULL, news);
    }
    if (!*server->hello.digest) {
        memcpy(server->hello.digest, hello.digest, sizeof hello.digest);
        server->hello.size = hello.size;
    }
    if (!*server->hello.recipe)
        memcpy(server->hello.recipe, hello.recipe, sizeof hello.recipe);
    if (!known)
        peer = admit(server, from, &hello);
    if (!peer) {
        wire_binder_refuse(server, from, "too many peers", 0);
        err_set(&news->why, "more than %d peers", WIRE_PEERS_MAX);
        return wire_binder_bad(server, NULL, news);
    }
    news->what = WIRE_JOINED;
    news->peer = peer->number;
    wire_binder_tell(server, peer, wire_hello_put(&server->hello));
    return !known;
}

static int
take_next(struct wire_server *server, struct wire_peer *peer,
          struct wire_msg *msg, struct wire_news *news)
{
    struct wire_next next;

    if (wire_next_get(&next, msg, &news->why))
        return wire_binder_bad(server, peer, news);
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
        return wire_binder_bad(server, peer, news);
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
        return wire_binder_bad(server, peer, news);
    }
    peer->credit--;
    return 1;
}

/* A request: the answer that it had before, or news. */
static int
take_request(struct wire_server *server, struct wire_peer *peer,
             struct wire_msg *msg, struct wire_news *news)
{
    struct wire_reader r = wire_read_start(msg, &news->why);
    const int64_t id = wire_read_whole(&r, "id", 0, INT64_MAX);
    struct wire_msg *answer = wire_kept_find(&server->kept, peer->name, id);

    if (r.rc)
        return wire_binder_bad(server, peer, news);
    if (!answer)
        return 1;
    wire_binder_send(server, peer, answer);
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
    case WIRE_FEATURES_GET:
    case WIRE_PLAN:
        return end == WIRE_SERVES;
    case WIRE_BEAT:
        return 1;
    default:
        return 0;
    }
}

int
wire_binder_take(struct wire_server *server, const struct wire_id *from,
                 struct wire_msg *msg, struct wire_news *news)
{
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *role = wire_msg_role(msg);
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);

    if (*role && !wire_role_may(role, kind)) {
        err_set(&news->why, "a key of role '%s' may not send %s", role,
                wire_kind_name(kind));
        wire_binder_refuse(server, from, news->why.msg, 0);
        return wire_binder_bad(server, peer, news);
    }
    if (kind == WIRE_HELLO)
        return greet(server, from, msg, news);
    if (!peer) {
        wire_binder_refuse(server, from, "who are you? say hello", 1);
        return 0;
    }
    peer->heard = clock_now();
    news->what = WIRE_CAME;
    news->peer = peer->number;
    news->msg = msg;
    if (!expects(server->kind, kind)) {
        err_set(&news->why, "sent %s, which has no use here",
                wire_kind_name(kind));
        return wire_binder_bad(server, peer, news);
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
