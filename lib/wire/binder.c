#include <stdio.h>
#include <string.h>

#include "util/clock.h"

#include "binder.h"
#include "pack.h"
#include "raw.h"

/* Send, and see whether the peer is gone: 1 sent, 0 not. */
int
wire_binder_send(struct wire_server *server, struct wire_peer *peer,
                 struct wire_msg *msg)
{
    int rc = peer->gone ? -1 : wire_sock_send(server->sock, &peer->id, msg);

    if (rc < 0)
        peer->gone = 1; // it leaves when all is read that it sent
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

/* Tells a connection that it is not welcome, or to say hello. */
static void
send_error(struct wire_server *server, const struct wire_id *to,
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
 * A peer that goes on sending what will not do is sent away: a tool of ours
 * ends with that reason, and what it held goes to others.
 */
static void
send_away(struct wire_server *server, struct wire_peer *peer,
          const struct err *why)
{
    struct err last;

    err_set(&last, "sent away after %u messages in a row were refused: %.300s",
            peer->refusal.row, why->msg);
    send_error(server, &peer->id, last.msg, 0);
    peer->gone = 1;
}

int
wire_binder_refuse(struct wire_server *server, struct wire_peer *peer,
                   const struct wire_subject *subject, struct wire_news *news)
{
    const struct err why = news->why;
    int last;

    wire_refusal_tell(&peer->refusal, server->sock, &peer->id, subject, &why);
    last = peer->refusal.row == WIRE_REFUSALS_MAX && !peer->gone;
    if (last)
        send_away(server, peer, &why);
    err_set(&news->why, "%s %ju '%s'%s: %.300s", peer->hello.stage,
            (uintmax_t)peer->number, peer->hello.peer,
            last ? " is sent away: 64 messages in a row were refused, the last"
                 : "",
            why.msg);
    news->what = WIRE_REPORT;
    return tally_add(&server->refused, &news->why) || last;
}

/* The same of a connection that is not known: it has no use for another try. */
static int
turn_away(struct wire_server *server, const struct wire_id *from,
          struct wire_news *news)
{
    send_error(server, from, news->why.msg, 0);
    news->what = WIRE_REPORT;
    return tally_add(&server->refused, &news->why);
}

/* A peer that has not said hello is asked to; a binder that was restarted meets
 * all of its peers like that. */
static int
take_stranger(struct wire_server *server, const struct wire_id *from,
              const char *kind, struct wire_news *news)
{
    if (wire_peers_again(&server->peers, from, clock_now()))
        send_error(server, from, "who are you? say hello", 1);
    err_set(&news->why, "a peer at '%.200s' sent %s before it said hello",
            wire_sock_endpoint(server->sock), kind);
    news->what = WIRE_REPORT;
    return tally_add(&server->strangers, &news->why);
}

int
wire_binder_unread(struct wire_server *server, const struct wire_id *from,
                   struct wire_news *news)
{
    const struct wire_subject *subject = wire_sock_subject(server->sock);
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);

    if (peer)
        return wire_binder_refuse(server, peer, subject, news);
    if (subject->version)
        return turn_away(server, from, news);
    return take_stranger(server, from, subject->kind, news);
}

/* What we did not know yet of the data is as the first peer says: an augmenter,
 * or to a negatives service its trainer.  A peer that asks for features
 * teaches nothing.
 */
static void
learn(struct wire_server *server, const struct wire_hello *theirs)
{
    struct wire_hello *mine = &server->hello;

    if (server->edge == WIRE_EDGE_FEATURES)
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
judge_recipe(const struct wire_server *server, const struct wire_hello *hello,
             struct err *err)
{
    if (server->edge != WIRE_EDGE_BATCH || *hello->recipe)
        return 0;
    return err_set(err, "hello: 'recipe' is missing: a peer that brings views "
                        "says what they are made by");
}

static int
greet(struct wire_server *server, const struct wire_id *from,
      struct wire_msg *msg, struct wire_news *news)
{
    struct wire_hello hello;
    struct wire_peer *peer;

    if (wire_hello_get(&hello, msg, &news->why) ||
        wire_hello_fits(&server->hello, &hello, &news->why) ||
        judge_recipe(server, &hello, &news->why) ||
        (server->judge && server->judge(server->self, &hello, &news->why)))
        return turn_away(server, from, news);
    learn(server, &hello);
    switch (
        wire_peers_greet(&server->peers, from, &hello, clock_now(), &peer)) {
    case WIRE_CROWDED:
        err_set(&news->why, "more than %d peers", WIRE_PEERS_MAX);
        return turn_away(server, from, news);
    case WIRE_KNOWN:
        wire_binder_tell(server, peer, wire_hello_put(&server->hello));
        return 0;
    case WIRE_ENTERED:
        break;
    }
    wire_sock_admit(server->sock);
    wire_binder_tell(server, peer, wire_hello_put(&server->hello));
    news->what = WIRE_JOINED;
    news->peer = peer->number;
    return 1;
}

/* A request that is late, or of a peer whose ids do not rise. */
static int
refuse_late(struct wire_server *server, struct wire_peer *peer, int64_t id)
{
    struct wire_error error = {.id = id};

    snprintf(error.reason, sizeof error.reason,
             "a request with a larger id than %jd was answered: ids rise",
             (intmax_t)id);
    wire_binder_tell(server, peer, wire_error_put(&error));
    return 0;
}

/* A request: the answer that it had before, or news. */
static int
take_request(struct wire_server *server, struct wire_peer *peer,
             struct wire_msg *msg, const struct wire_subject *subject,
             struct wire_news *news)
{
    struct wire_reader r = wire_read_start(msg, &news->why);
    const int64_t id = wire_read_whole(&r, "id", 0, INT64_MAX);
    struct wire_msg *answer =
        wire_kept_find(&server->kept, peer->hello.peer, id);

    if (r.rc)
        return wire_binder_refuse(server, peer, subject, news);
    if (!answer && wire_kept_late(&server->kept, peer->hello.peer, id))
        return refuse_late(server, peer, id);
    if (!answer)
        return 1;
    wire_binder_send(server, peer, answer);
    return 0;
}

/*
 * An error of a peer: it is printed, and where it names an item that we sent,
 * it is news for the producer.
 */
static int
take_error(struct wire_server *server, struct wire_peer *peer,
           struct wire_msg *msg, const struct wire_subject *subject,
           struct wire_news *news)
{
    struct wire_error error;
    char from[120];
    int say;

    if (wire_error_get(&error, msg, &news->why))
        return wire_binder_refuse(server, peer, subject, news);
    snprintf(from, sizeof from, "%s %ju '%s'", peer->hello.stage,
             (uintmax_t)peer->number, peer->hello.peer);
    wire_refusal_words(&error, from, &news->why);
    say = tally_add(&server->told, &news->why);
    if (server->edge != WIRE_EDGE_PLAN || error.of.at.session < 0) {
        news->what = WIRE_REPORT;
        return say;
    }
    if (!say)
        *news->why.msg = '\0';
    return 1;
}

/* What no message of its kind may be, whoever sent it. */
static int
judge(const struct wire_server *server, enum wire_kind kind,
      const struct wire_subject *subject, struct err *err)
{
    if (!wire_edge_may(server->edge, WIRE_CONNECTS, kind))
        return err_set(err, "sent %s, which has no use here",
                       wire_kind_name(kind));
    return subject->at.session < 0
               ? 0
               : wire_session_judge(subject->at.session, err);
}

int
wire_binder_take(struct wire_server *server, const struct wire_id *from,
                 struct wire_msg *msg, struct wire_news *news)
{
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *role = wire_msg_role(msg);
    struct wire_peer *peer = wire_peers_by_id(&server->peers, from);
    struct wire_subject subject;

    wire_subject_of(&subject, msg);
    if (*role && !wire_edge_takes(server->edge, WIRE_CONNECTS, role)) {
        err_set(&news->why, "a key of role '%s' may not send %s on edge %s",
                role, wire_kind_name(kind), wire_edge_name(server->edge));
        return peer ? wire_binder_refuse(server, peer, &subject, news)
                    : turn_away(server, from, news);
    }
    if (kind == WIRE_HELLO)
        return greet(server, from, msg, news);
    if (!peer)
        return take_stranger(server, from, wire_kind_name(kind), news);
    wire_peers_hear(peer, clock_now());
    news->what = WIRE_MESSAGE;
    news->peer = peer->number;
    news->msg = msg;
    if (judge(server, kind, &subject, &news->why))
        return wire_binder_refuse(server, peer, &subject, news);
    switch (kind) {
    case WIRE_BEAT:
        return wire_beat_get(&peer->beat, msg, &news->why) &&
               wire_binder_refuse(server, peer, &subject, news);
    case WIRE_ERROR:
        return take_error(server, peer, msg, &subject, news);
    default:
        return !wire_edge_serves(server->edge) ||
               take_request(server, peer, msg, &subject, news);
    }
}

void
wire_binder_settle(struct wire_server *server)
{
    struct wire_peer *peer = wire_peers_by_number(&server->peers, server->from);

    if (peer && !server->refused_it)
        wire_refusal_good(&peer->refusal, wire_msg_kind(server->msg));
    server->from = 0;
    server->refused_it = 0;
    wire_msg_free(server->msg);
    server->msg = NULL;
}
