#ifndef FLOW_SERVER_H
#define FLOW_SERVER_H

#include "flow/news.h"
#include "wire/error.h"
#include "wire/hello.h"
#include "wire/next.h"
#include "wire/sock.h"

/*
 * The end of an edge that binds: one process that many connect to.
 *
 * It greets peers (hello, version, run, data set), sends strangers an error
 * that makes them greet again, answers repeated requests with the same answer,
 * notices which peers are gone, and hands the tool what is left: news.  Peers
 * are numbered from 1; one that says hello on another connection leaves under
 * its old number and joins under a new one.  A peer of which 64 messages in a
 * row are refused is sent away.
 *
 *     while ((rc = wire_wait(wire, stop, 1, &err)) > 0)
 *         while ((rc = flow_server_next(server, &news, &err)) > 0)
 *             switch (news.what) ...
 */
struct flow_server;

struct flow_server_config {
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

struct flow_server *flow_server_open(struct wire *wire,
                                     const struct flow_server_config *config,
                                     struct err *err);
void flow_server_close(struct flow_server *server);

/*
 * flow_server_next() returns 1 with news, 0 when there is none now.  The news
 * lasts until the next call.  See flow/news.h for what there is.  Silence is
 * looked at only when everything that had arrived is read, and not on the first
 * look after a pause of ours: a tool that computes for seconds between two
 * calls does not lose its peers by it.
 */
int flow_server_next(struct flow_server *server, struct flow_news *news,
                     struct err *err);

/* flow_server_hello() is ours, with the data set as it is known by now. */
const struct wire_hello *flow_server_hello(const struct flow_server *server);

/* flow_server_endpoint() is where it is bound, for a stage out of the tree that
 * binds to a port `*`. */
const char *flow_server_endpoint(const struct flow_server *server);

/*
 * flow_server_expect() says that no message will be larger than so many bytes,
 * and that a peer has at most n of them under way: that much of each is
 * kept until it is read (wire_edge_message() before).
 */
void flow_server_expect(struct flow_server *server, size_t bytes, size_t n);

/* How many peers there are: i < flow_server_peers() of flow_server_peer(). */
size_t flow_server_peers(const struct flow_server *server);
uint64_t flow_server_peer(const struct flow_server *server, size_t i);

/* A peer's hello, or NULL when it is not there any more. */
const struct wire_hello *flow_server_who(const struct flow_server *server,
                                         uint64_t peer);

/* flow_server_beat() is the last that a peer said of how it is, or NULL. */
const struct wire_beat *flow_server_beat(const struct flow_server *server,
                                         uint64_t peer);

/*
 * flow_server_send() sends one message to a peer.  Returns 1, or 0 when it is
 * not sent: the peer is gone (FLOW_LEFT will be news), or its queue is full.
 */
int flow_server_send(struct flow_server *server, uint64_t peer,
                     struct wire_msg *msg);

/*
 * flow_server_over() tells every peer that the run is over at `at`, which
 * reaches them also when the server is closed next, and peers that left by
 * saying nothing, too: they may only be slow.  It waits up to 2 s for peers
 * whose queues are full.
 */
void flow_server_over(struct flow_server *server, const struct wire_place *at);

/*
 * Of a service.  flow_server_answer() sends the answer to request `id` of a
 * peer and keeps it: asked again, the same is sent without asking the tool.  An
 * answer that is larger than the edge takes becomes an error that says so.
 */
int flow_server_answer(struct flow_server *server, uint64_t peer, int64_t id,
                       struct wire_msg *msg);

/*
 * flow_server_reaches() returns 1 while a peer is connected, else 0, and then
 * the peer leaves at once, not when it has been silent for WIRE_SILENCE.  It
 * sends our hello once more, which peers pass over.
 */
int flow_server_reaches(struct flow_server *server, uint64_t peer);

/*
 * flow_server_refuse() refuses the message of the last news, which peer sent:
 * it is told why by an error that names the message, and sent away after 64 in
 * a row.  Returns 1 when that is to be printed (the 1st, 2nd, 4th, 8th ... of
 * all), with the count and the sender added to the sentence.
 */
int flow_server_refuse(struct flow_server *server, uint64_t peer,
                       struct err *why);

#endif
