#include <stdio.h>
#include <string.h>

#include "util/clock.h"

#include "binder.h"
#include "pack.h"
#include "refusal.h"

/* So many malformed messages, with less than so many seconds between two. */
static const unsigned offences_max = 64;
static const double forgiven = 10;

/* Send, and see whether the peer is gone: 1 sent, 0 not. */
int
wire_binder_send(struct wire_server *server, struct wire_peer *peer,
                 struct wire_msg *msg)
{
    int rc = peer->gone ? -1 : wire_sock_send(server->sock, &peer->id, msg);

    if (rc < 0)
        peer->gone = 1; // it leaves when its last words are read
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

/*
 * A peer that goes on sending nonsense is sent away: a tool of ours ends with
 * that reason, and what it held goes to others.
 */
static int
is_last_offence(struct wire_server *server, struct wire_peer *peer,
                const struct err *why)
{
    const double now = clock_now();
    struct err last;

    if (now - peer->offended > forgiven)
        peer->offences = 0;
    peer->offended = now;
    if (++peer->offences < offences_max || peer->gone)
        return 0;
    err_set(&last, "sent away after %u malformed messages, the last: %.300s",
            peer->offences, why->msg);
    wire_binder_refuse(server, &peer->id, last.msg, 0);
    peer->gone = 1;
    return 1;
}

/* Words of a peer that are refused: said, to both sides. */
static int
refuse_words(struct wire_server *server, struct wire_peer *peer, int last,
             struct wire_news *news)
{
    const struct err why = news->why;

    if (peer && !last)
        wire_refusal_tell(&peer->refused, server->sock, &peer->id, &why);
    if (peer)
        err_set(&news->why, "%s %ju '%s'%s: %.300s", peer->hello.stage,
                (uintmax_t)peer->number, peer->name,
                last ? " is sent away, it sends too much nonsense" : "",
                why.msg);
    news->what = WIRE_REPORT;
    return tally_add(&server->bad, &news->why) || last;
}

int
wire_binder_doubt(struct wire_server *server, struct wire_peer *peer,
                  struct wire_news *news)
{
    return refuse_words(server, peer, 0, news);
}

int
wire_binder_bad(struct wire_server *server, struct wire_peer *peer,
                struct wire_news *news)
{
    const int last = peer && is_last_offence(server, peer, &news->why);

    return refuse_words(server, peer, last, news);
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

/* Ours, as the answer to theirs. */
static void
answer_hello(struct wire_server *server, struct wire_peer *peer)
{
    struct wire_hello mine = server->hello;

    mine.greeting = peer->hello.greeting;
    wire_binder_tell(server, peer, wire_hello_put(&mine));
}

/* What we did not know yet of the data is as the first peer says. */
static void
learn(struct wire_hello *mine, const struct wire_hello *theirs)
{
    if (!*mine->digest) {
        memcpy(mine->digest, theirs->digest, sizeof mine->digest);
        mine->size = theirs->size;
    }
    if (!*mine->recipe)
        memcpy(mine->recipe, theirs->recipe, sizeof mine->recipe);
}

/*
 * A hello that is said again under the same number is only answered.  Any
 * other begins anew: what the peer had before, on this connection or on an
 * earlier one, it has lost.
 */
static int
greet(struct wire_server *server, const struct wire_id *from,
      struct wire_msg *msg, struct wire_news *news)
{
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);
    struct wire_hello hello;

    if (wire_hello_get(&hello, msg, &news->why) ||
        wire_hello_fits(&server->hello, &hello, &news->why)) {
        wire_binder_refuse(server, from, news->why.msg, 0);
        return wire_binder_bad(server, NULL, news);
    }
    learn(&server->hello, &hello);
    if (peer && peer->hello.greeting == hello.greeting) {
        answer_hello(server, peer);
        return 0;
    }
    if (!peer)
        peer = wire_peers_by_name(&server->peers, hello.peer);
    if (peer)
        wire_peers_leave(&server->peers, peer);
    peer = admit(server, from, &hello);
    if (!peer) {
        wire_binder_refuse(server, from, "too many peers", 0);
        err_set(&news->why, "more than %d peers", WIRE_PEERS_MAX);
        return wire_binder_bad(server, NULL, news);
    }
    wire_sock_admit(server->sock);
    news->what = WIRE_JOINED;
    news->peer = peer->number;
    answer_hello(server, peer);
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

/* A peer refused what we sent: that is said, and changes nothing. */
static int
take_error(struct wire_server *server, struct wire_peer *peer,
           struct wire_msg *msg, struct wire_news *news)
{
    struct wire_error error;

    if (wire_error_get(&error, msg, &news->why))
        return wire_binder_bad(server, peer, news);
    err_set(&news->why, "%s %ju refuses a message of ours: %.400s",
            peer->hello.stage, (uintmax_t)peer->number, error.reason);
    news->what = WIRE_REPORT;
    return tally_add(&server->told, &news->why);
}

/* Who has not said hello is asked to; a binder that was restarted meets all
 * of its peers like that. */
static int
take_stranger(struct wire_server *server, const struct wire_id *from,
              enum wire_kind kind, struct wire_news *news)
{
    wire_binder_refuse(server, from, "who are you? say hello", 1);
    err_set(&news->why, "a peer at '%.200s' sent %s before it said hello",
            wire_sock_endpoint(server->sock), wire_kind_name(kind));
    news->what = WIRE_REPORT;
    return tally_add(&server->strangers, &news->why);
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
    case WIRE_ERROR:
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
    if (!peer)
        return take_stranger(server, from, kind, news);
    peer->heard = clock_now();
    news->what = WIRE_MESSAGE;
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
    case WIRE_ERROR:
        return take_error(server, peer, msg, news);
    default:
        return server->kind != WIRE_SERVES ||
               take_request(server, peer, msg, news);
    }
}
