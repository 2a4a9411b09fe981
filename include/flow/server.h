#pragma once

#include "flow/event.h"
#include "wire/hello.h"
#include "wire/progress.h"
#include "wire/sock.h"

/*
 * The binding end of an edge: one process to which many connect.
 *
 * It exchanges hello with its peers (version, run, data set), sends unknown
 * peers an error that makes them send hello, answers repeated requests with the
 * same answer, detects peers that are gone, and reports all else to the tool as
 * event.  Peers are numbered from 1.  A peer that sends hello on another
 * connection leaves under its old number and joins under a new one.  A peer is
 * disconnected after 64 refused messages in a row.
 *
 *     while ((rc = wire_wait(wire, stop, 1, &err)) > 0)
 *         while (flow_server_next(server, &event))
 *             switch (event.kind) ...
 */
struct flow_server;

struct flow_server_config {
    const char *endpoint;
    enum wire_edge edge;
    /* Ours; a missing digest or recipe is the first peer's: peers with another
     * are refused. */
    struct wire_hello hello;
    struct wire_limits limits;
    /* A further check of a peer's hello, before anything else is read from it:
     * 0, or -1 with a message for that peer, which then exits.  NULL: none. */
    int (*check)(void *self, const struct wire_hello *hello, struct err *err);
    void *self; /* argument of check() */
};

struct flow_server *flow_server_open(struct wire *wire,
                                     const struct flow_server_config *config,
                                     struct err *err);
void flow_server_close(struct flow_server *server);

/*
 * flow_server_next() returns 1 with an event (flow/event.h), valid until the
 * next call, or 0 when there is none.  A peer counts as silent only when all
 * messages that had arrived are read, and not in the first call after a pause
 * of ours: a tool that computes for seconds between two calls does not lose its
 * peers.
 */
int flow_server_next(struct flow_server *server, struct flow_event *event);

/* flow_server_hello() returns our hello with the data set as far as it is
 * known, owned by the server. */
const struct wire_hello *flow_server_hello(const struct flow_server *server);

/* flow_server_endpoint() returns the bound endpoint, with the actual port where
 * the configured port is `*`. */
const char *flow_server_endpoint(const struct flow_server *server);

/* flow_server_expect() sets the size of the largest message, and how many of
 * them a peer may have in transit: the socket queues n messages of that size of
 * each peer.  Before this call a message may have wire_edge_message() bytes. */
void flow_server_expect(struct flow_server *server, size_t bytes, size_t n);

/* flow_server_peers() returns the number of peers, flow_server_peer() the
 * number of the i-th of them. */
size_t flow_server_peers(const struct flow_server *server);
uint64_t flow_server_peer(const struct flow_server *server, size_t i);

/* flow_server_peer_hello() returns a peer's hello, owned by the server, or NULL
 * when the peer is gone. */
const struct wire_hello *
flow_server_peer_hello(const struct flow_server *server, uint64_t peer);

/* flow_server_heartbeat() returns the last heartbeat of a peer
 * (wire/progress.h), owned by the server, or NULL. */
const struct wire_heartbeat *
flow_server_heartbeat(const struct flow_server *server, uint64_t peer);

/* flow_server_send() sends one message to a peer.  Returns 1, or 0 when it was
 * not sent: the peer is gone (FLOW_LEFT follows), or its queue is full. */
int flow_server_send(struct flow_server *server, uint64_t peer,
                     struct wire_msg *msg);

/*
 * flow_server_send_over() reports to every peer that the run is over at `at`,
 * also to peers that were dropped for silence: they may only be slow.  The
 * report reaches them even if the server is closed next.  Waits up to 2 s for
 * full queues.
 */
void flow_server_send_over(struct flow_server *server,
                           const struct wire_place *at);

/*
 * flow_server_answer() is for a service: it sends the answer to request `id` of
 * a peer and caches it: a repeated request gets the same answer without the
 * tool.  An answer larger than the edge allows becomes an error with that
 * reason.  Returns 1, or 0 when it was not sent.
 */
int flow_server_answer(struct flow_server *server, uint64_t peer, int64_t id,
                       struct wire_msg *msg);

/* flow_server_ping() returns 1 while a peer is connected, else 0; then the
 * peer leaves at once, not only after WIRE_SILENCE.  It sends our hello once
 * more, which peers ignore. */
int flow_server_ping(struct flow_server *server, uint64_t peer);

/*
 * flow_server_refuse() refuses the message of the last event because of
 * event->why, and sends an error that names the message and the reason; a peer
 * is disconnected after 64 in a row.  Returns 1 when *event, now a FLOW_REPORT
 * with the count and the sender added, is to be printed (the 1st, 2nd, 4th, 8th
 * ... of all).
 */
int flow_server_refuse(struct flow_server *server, struct flow_event *event);
