#ifndef WIRE_SERVER_H
#define WIRE_SERVER_H

#include "wire/error.h"
#include "wire/hello.h"
#include "wire/news.h"
#include "wire/next.h"
#include "wire/sock.h"

/*
 * The end of an edge that binds: one process that many connect to.
 *
 * It greets peers (hello, version, run, data set), sends strangers an error
 * that makes them greet again, answers repeated requests with the same answer,
 * notices who is gone, and hands the tool what is left: news.  Peers are
 * numbered from 1; one that says hello on another connection leaves under its
 * old number and joins under a new one.  A peer of which 64 messages in a row
 * are refused is sent away.
 *
 *     while ((rc = wire_wait(wire, stop, 1, &err)) > 0)
 *         while ((rc = wire_server_next(server, &news, &err)) > 0)
 *             switch (news.what) ...
 */
struct wire_server;

struct wire_server_config {
    const char *endpoint;
    enum wire_edge edge;
    struct wire_hello hello; /* ours; without digest or recipe we take the
                              * first comer's and refuse others */
    struct wire_limits limits;
    /* What a hello must be besides, before anything is learnt from it: 0, or -1
     * with the sentence that ends that peer.  NULL: nothing. */
    int (*check)(void *self, const struct wire_hello *hello, struct err *err);
    void *self; /* of check() */
};

struct wire_server *wire_server_open(struct wire *wire,
                                     const struct wire_server_config *config,
                                     struct err *err);
void wire_server_close(struct wire_server *server);

/*
 * wire_server_next() returns 1 with news, 0 when there is none now.  The news
 * lasts until the next call.  See wire/news.h for what there is.  Silence is
 * judged only when everything that had arrived is read, and not on the first
 * look after a pause of ours: a tool that computes for seconds between two
 * calls does not lose its peers by it.
 */
int wire_server_next(struct wire_server *server, struct wire_news *news,
                     struct err *err);

/* wire_server_hello() is ours, with the data set as it is known by now. */
const struct wire_hello *wire_server_hello(const struct wire_server *server);

/* wire_server_endpoint() is where it is bound, for a stage out of the tree that
 * binds to a port `*`. */
const char *wire_server_endpoint(const struct wire_server *server);

/*
 * wire_server_expect() says that no message will be larger than so many bytes,
 * and that a peer has at most n of them under way: that much of each is
 * kept until it is read (wire_edge_message() before).
 */
void wire_server_expect(struct wire_server *server, size_t bytes, size_t n);

/* How many peers there are: i < wire_server_peers() of wire_server_peer(). */
size_t wire_server_peers(const struct wire_server *server);
uint64_t wire_server_peer(const struct wire_server *server, size_t i);

/* A peer's hello, or NULL when it is not there any more. */
const struct wire_hello *wire_server_who(const struct wire_server *server,
                                         uint64_t peer);

/* wire_server_beat() is the last that a peer said of how it is, or NULL. */
const struct wire_beat *wire_server_beat(const struct wire_server *server,
                                         uint64_t peer);

/*
 * wire_server_send() sends one message to a peer.  Returns 1, or 0 when it is
 * not sent: the peer is gone (WIRE_LEFT will be news), or its queue is full.
 */
int wire_server_send(struct wire_server *server, uint64_t peer,
                     struct wire_msg *msg);

/*
 * wire_server_over() tells every peer that the run is over at `at`, which
 * reaches them also when the server is closed next, and peers that left by
 * saying nothing, too: they may only be slow.  It waits up to 2 s for peers
 * whose queues are full.
 */
void wire_server_over(struct wire_server *server, const struct wire_place *at);

/*
 * Of a service.  wire_server_answer() sends the answer to request `id` of a
 * peer and keeps it: asked again, the same is sent without asking the tool.  An
 * answer that is larger than the edge takes becomes an error that says so.
 */
int wire_server_answer(struct wire_server *server, uint64_t peer, int64_t id,
                       struct wire_msg *msg);

/*
 * wire_server_reaches() returns 1 while a peer is connected, else 0, and then
 * the peer leaves at once, not when it has been silent for WIRE_SILENCE.  It
 * sends our hello once more, which peers pass over.
 */
int wire_server_reaches(struct wire_server *server, uint64_t peer);

/*
 * wire_server_refuse() refuses the message of the last news, which peer sent:
 * it is told why by an error that names the message, and sent away after 64 in
 * a row.  Returns 1 when that is to be printed (the 1st, 2nd, 4th, 8th ... of
 * all), with the count and the sender added to the sentence.
 */
int wire_server_refuse(struct wire_server *server, uint64_t peer,
                       struct err *why);

#endif
