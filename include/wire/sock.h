#pragma once

#include "wire/edge.h"
#include "wire/error.h"
#include "wire/keys.h"

/*
 * Sockets between tools, and the only function in which a tool waits.
 *
 * A struct wire has all sockets of a process.  Each has limits that ZeroMQ does
 * not set by default: 2 s to send the rest when it is closed (LINGER), queues
 * of some messages, a maximal part, 2 s for a handshake, 3 s until a cut TCP
 * connection is closed, nothing queued for absent peers, reconnects after 0.1 s
 * .. 5 s.  With keys, a separate thread answers ZeroMQ's authentication
 * requests, so that a peer can connect while the stage computes.
 *
 * A binding socket also limits the memory that each peer can make it use, so
 * that memory is bounded by the number of admitted peers (wire_sock_admit()),
 * whatever they send: WIRE_STRANGER bytes that the tool has not read as a
 * message yet, or WIRE_SUBSCRIBER at a PUB; about a thousand connections in a
 * process.  A peer that exceeds them is disconnected; wire_refused() reports
 * it.  A subscriber that does not read is disconnected, too, when a PUB has
 * much unsent; while WIRE_PUBLISHED bytes wait, no more is published.
 */
struct wire;

struct wire_limits {
    size_t queue;        /* maximum messages in transit to one peer; 0: 8 */
    enum wire_edge edge; /* its limits apply (wire/edge.h); flow and wire/feed.h
                          * set it */
    size_t max_batch;    /* for a trainer, 0: WIRE_BATCH_PART */
};

enum {
    WIRE_STRANGER = 32 << 10,       /* bytes: enough for greetings */
    WIRE_SUBSCRIBER = 2 << 10,      /* a handshake and some subscriptions */
    WIRE_PUBLISHED = 24 << 20,      /* unsent to all subscribers of a PUB, */
    WIRE_PUBLISHED_SMALL = 4 << 10, /* without messages up to this size */
};

/*
 * wire_open() makes an empty set of sockets, and raises the process's limit of
 * open files as far as allowed (util/limits.h).
 *   keys   our certificate and those of the peers that may connect, borrowed
 *          until wire_close(); NULL: no keys
 */
struct wire *wire_open(const struct wire_keys *keys, struct err *err);

/* wire_close() closes what is still open.  Harmless on NULL. */
void wire_close(struct wire *wire);

/*
 * wire_wait() waits until some socket has a message, stop_fd (or -1) is
 * readable, or so many seconds have passed.  It sends what becomes due
 * (wire_sock_on_tick()).
 *
 * Returns 1: try wire_sock_recv() on each socket (also when the time is over),
 * 0: stop_fd is readable, -1: error.
 */
int wire_wait(struct wire *wire, int stop_fd, double seconds, struct err *err);

/* wire_tick() sends what is due and returns at once.  Call it inside work that
 * takes longer than a second: a peer that is silent for WIRE_SILENCE seconds
 * counts as gone. */
void wire_tick(struct wire *wire);

#define WIRE_HEARTBEAT_S 1.0
#define WIRE_SILENCE 3.0

/* One socket. */
struct wire_sock;

/* ROUTER and PUB bind, DEALER and SUB connect. */
enum wire_type { WIRE_ROUTER, WIRE_DEALER, WIRE_PUB, WIRE_SUB };

/*
 * wire_sock_open() opens one; NULL with a message on error: invalid address,
 * address in use by a living process, tcp to other machines without keys (a
 * name other than localhost counts as one).  The socket file of a dead
 * process is replaced.
 *
 * Only foil's tools limit the unread bytes of a peer and the number of
 * connections (wire/gate.h).  In another program any process that reaches a
 * bound endpoint can fill the memory, by the parts of one message, bytes before
 * the handshake, or connections: on ipc every user who may enter the folder, on
 * tcp everybody, with or without keys.
 *
 *     endpoint   "ipc://PATH" or "tcp://HOST:PORT"
 *     role       with keys: the role that the binder's key must have, "train";
 *                of one that binds, NULL
 *     limits     copied
 */
struct wire_sock *wire_sock_open(struct wire *wire, enum wire_type type,
                                 const char *endpoint, const char *role,
                                 const struct wire_limits *limits,
                                 struct err *err);

/* wire_sock_close() closes a socket; ZeroMQ sends unsent messages for two
 * seconds more.  Harmless on NULL. */
void wire_sock_close(struct wire_sock *sock);

/* wire_sock_endpoint() returns the bound endpoint, with the actual port for
 * "tcp://...:*". */
const char *wire_sock_endpoint(const struct wire_sock *sock);

/* A routing id: the address of a peer on a ROUTER, and the version of the
 * protocol in which it is answered (0: ours). */
struct wire_id {
    uint8_t len, byte[255];
    int version;
};

/*
 * wire_sock_recv() receives the next pending message.
 *   from   its sender, on a ROUTER; else NULL
 *
 * Returns 1 with a message, to be freed by wire_msg_free(), 0 when none is
 * pending, -1 with a message when a message was refused and dropped: continue;
 * wire_sock_subject() describes it.
 *
 * A peer of version 2 is sent messages of version 2 from its first message on.
 * A binder of version 2 answers our hello with an error; that is dropped, and
 * the hello that is sent next, after a second, has its version.  One that does
 * not answer is sent hello in both versions.
 */
int wire_sock_recv(struct wire_sock *sock, struct wire_id *from,
                   struct wire_msg **msg, struct err *err);

/* wire_sock_subject() returns what is known of the last refused message. */
const struct wire_subject *wire_sock_subject(const struct wire_sock *sock);

/*
 * wire_sock_send() sends without waiting; the caller still owns msg.
 *   to   on a ROUTER; else NULL
 *
 * Returns 1: queued, 0: not now (a DEALER that is not connected, a full queue,
 * a PUB with too much unsent), -1: that peer is gone.
 */
int wire_sock_send(struct wire_sock *sock, const struct wire_id *to,
                   struct wire_msg *msg);

/*
 * wire_sock_on_tick() sets a function that wire_wait() and wire_tick() call to
 * send the messages of a socket that are due.  on_tick() returns the latest
 * time, by clock_now(), of its next call.
 *
 *     self   first argument of on_tick(), borrowed
 *     up     1: a peer is connected
 *     now    clock_now()
 */
void wire_sock_on_tick(struct wire_sock *sock,
                       double (*on_tick)(void *self, int up, double now),
                       void *self);

/* wire_sock_wait() is wire_wait() for one socket: messages on others do not
 * end it.  With sock NULL it waits for no message, as a sleep. */
int wire_sock_wait(struct wire *wire, struct wire_sock *sock, int stop_fd,
                   double seconds, struct err *err);

/* wire_sock_send_when_connected() sends msg as soon as a peer is connected,
 * from inside wire_wait(); it replaces a message that still waits.  NULL
 * cancels that one. */
void wire_sock_send_when_connected(struct wire_sock *sock,
                                   struct wire_msg *msg);

/* wire_sock_has_connected() returns 1 while a peer is connected to a DEALER, or
 * once one has connected to a binding socket. */
int wire_sock_has_connected(const struct wire_sock *sock);

/* wire_sock_lost() returns 1 when the connection of a DEALER was lost since the
 * last call.  ZeroMQ reconnects by itself, possibly to another process. */
int wire_sock_lost(struct wire_sock *sock);

/* wire_sock_trouble() returns 1 with the reason while a DEALER cannot connect
 * over tcp, else 0. */
int wire_sock_trouble(const struct wire_sock *sock, struct err *why);

/*
 * wire_refused() returns 1 when connections were refused since the last call
 * and that is to be printed (the 1st, 2nd, 4th ... of all), with the last
 * reason: unknown key, no key, the other end does not know ours, a peer that
 * sent too much, too many connections.  It also returns 1, once, when a tcp
 * endpoint was bound without keys: any user of this machine can connect to it;
 * and once when a peer speaks version 2 of the protocol.
 */
int wire_refused(struct wire *wire, struct err *why);

/* wire_sock_admit() admits the sender of the message that a ROUTER received
 * last: from now on its connection may have a message of the edge in transit
 * (wire_edge_message()). */
void wire_sock_admit(struct wire_sock *sock);

/* wire_sock_expect() sets how many bytes an admitted peer may have in transit,
 * also for peers admitted before. */
void wire_sock_expect(struct wire_sock *sock, size_t bytes);
