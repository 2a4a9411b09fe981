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
 * It greets peers (hello, version, run, data set), sends unknown peers an error
 * that makes them greet, answers repeated requests with the same answer,
 * notices which peers are gone, and hands all else to the tool as news.  Peers
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
    struct wire_hello hello; /* ours; a digest or recipe that is missing is
                              * taken from the first peer, and others refused */
    struct wire_limits limits;
    /* A further check of a peer's hello, before anything is taken from it: 0,
     * or -1 with the sentence that the peer ends with.  NULL: none. */
    int (*check)(void *self, const struct wire_hello *hello, struct err *err);
    void *self; /* of check() */
};

struct flow_server *flow_server_open(struct wire *wire,
                                     const struct flow_server_config *config,
                                     struct err *err);
void flow_server_close(struct flow_server *server);

/*
 * flow_server_next() returns 1 with news (flow/news.h), which lasts until the
 * next call, or 0 when there is none now.  A peer is taken for silent only when
 * all messages that had arrived are read, and not in the first call after a
 * pause of ours: a tool that computes for seconds between two calls does not
 * lose its peers by it.
 */
int flow_server_next(struct flow_server *server, struct flow_news *news,
                     struct err *err);

/* flow_server_hello() returns our hello, with the data set as far as it is
 * known by now; lent. */
const struct wire_hello *flow_server_hello(const struct flow_server *server);

/* flow_server_endpoint() returns where it is bound, for a program that binds to
 * a port `*`. */
const char *flow_server_endpoint(const struct flow_server *server);

/*
 * flow_server_expect() says that no message will be larger than so many bytes,
 * and that a peer has at most n of them on their way: so much of each peer is
 * queued until it is read.  Before this call a message may have
 * wire_edge_message() bytes.
 */
void flow_server_expect(struct flow_server *server, size_t bytes, size_t n);

/* flow_server_peers() returns how many peers there are, flow_server_peer() the
 * number of the i-th, i below that. */
size_t flow_server_peers(const struct flow_server *server);
uint64_t flow_server_peer(const struct flow_server *server, size_t i);

/* flow_server_who() returns a peer's hello, lent, or NULL when the peer is not
 * there any more. */
const struct wire_hello *flow_server_who(const struct flow_server *server,
                                         uint64_t peer);

/* flow_server_beat() returns the last beat of a peer (wire/next.h), lent, or
 * NULL. */
const struct wire_beat *flow_server_beat(const struct flow_server *server,
                                         uint64_t peer);

/*
 * flow_server_send() sends one message to a peer.  Returns 1, or 0 when it is
 * not sent: the peer is gone (FLOW_LEFT will be news), or its queue is full.
 */
int flow_server_send(struct flow_server *server, uint64_t peer,
                     struct wire_msg *msg);

/*
 * flow_server_over() tells every peer that the run is over at `at`, also those
 * that left by silence, which may only be slow.  It reaches them even if the
 * server is closed next.  It waits up to 2 s for peers whose queues are full.
 */
void flow_server_over(struct flow_server *server, const struct wire_place *at);

/*
 * flow_server_answer(), of a service, sends the answer to request `id` of a
 * peer and keeps it: asked again, the server sends the same without the tool.
 * An answer that is larger than the edge takes becomes an error that says so.
 * Returns 1, or 0 when it was not sent.
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
