#ifndef WIRE_SOCK_H
#define WIRE_SOCK_H

#include "wire/edge.h"
#include "wire/error.h"
#include "wire/keys.h"

/*
 * Sockets between tools, and the one place where a tool waits.
 *
 * A struct wire holds all of a process's sockets.  Each has limits that ZeroMQ
 * does not set by default: 2 s to send the rest at the end (LINGER), queues of
 * some messages, a largest part, 2 s for a handshake, 3 s until a TCP
 * connection that was cut is given up, nothing queued for peers that are not
 * there, reconnects after 0.1 s .. 5 s.  With keys a thread of its own answers
 * ZeroMQ's questions about them, so that a peer can come in while the stage
 * computes.
 *
 * A socket that binds also bounds what each peer makes it hold, so that memory
 * is bounded by what peers are admitted for (wire_sock_admit()), whatever
 * any of them sends: WIRE_STRANGER bytes that the tool has not read as a
 * message yet, or WIRE_SUBSCRIBER at a PUB; about a thousand connections in a
 * process.  A peer that goes beyond is cut off; wire_refused() tells.  A
 * subscriber that does not read is cut off, too, when a PUB has much unsent;
 * while WIRE_PUBLISHED bytes wait, no more is published.
 *
 * Room flow builds the ends of edges on these sockets, wire/feed.h those of
 * events.
 */
struct wire;

struct wire_limits {
    size_t queue;        /* most messages under way to one peer; 0: 8 */
    enum wire_edge edge; /* its limits hold (wire/edge.h); flow and wire/feed.h
                          * set it */
    size_t max_batch;    /* of a trainer, 0: WIRE_BATCH_PART */
};

enum {
    WIRE_STRANGER = 32 << 10,       /* bytes: room for greetings */
    WIRE_SUBSCRIBER = 2 << 10,      /* a handshake and some subscriptions */
    WIRE_PUBLISHED = 24 << 20,      /* unsent to all subscribers of a PUB, */
    WIRE_PUBLISHED_SMALL = 4 << 10, /* messages up to this size not counted */
};

/*
 * wire_open() makes an empty set of sockets, and lets the process have as many
 * files open as it may (util/nofile.h).
 *   keys   our certificate and those of the peers that may connect; NULL:
 *          no keys.  Must stay
 */
struct wire *wire_open(const struct wire_keys *keys, struct err *err);

/* wire_close() closes what is still open.  Harmless on NULL. */
void wire_close(struct wire *wire);

/*
 * wire_wait() waits until some socket has a message, stop_fd (or -1) is
 * readable, or so many seconds have passed.  It sends the signs of life that
 * are due meanwhile.
 *
 * Returns 1: try wire_sock_recv() on each socket (also when the time is over),
 * 0: stop_fd is readable, -1: error.
 */
int wire_wait(struct wire *wire, int stop_fd, double seconds, struct err *err);

/*
 * wire_beat() sends the signs of life that are due and returns at once.  Call
 * it inside work that takes longer than a second: a peer that is silent for
 * WIRE_SILENCE seconds counts as gone.
 */
void wire_beat(struct wire *wire);

#define WIRE_BEAT_EVERY 1.0
#define WIRE_SILENCE 3.0

/*
 * wire_endpoint() returns where an edge is: `given`, or, when that is NULL,
 * "ipc://DIR/EDGE" with edge plan, batch, negatives or events, to be given to
 * free(); NULL when both are missing.
 */
char *wire_endpoint(const char *given, const char *dir, const char *edge);

/* One socket. */
struct wire_sock;

enum wire_type { WIRE_ROUTER, WIRE_DEALER, WIRE_PUB, WIRE_SUB };

/*
 * wire_sock_bind(), wire_sock_connect() open one; NULL with a sentence on
 * error: no such address, address in use by a living process, tcp beyond this
 * machine without keys (a name other than localhost counts as beyond).  The
 * socket file of a dead process is taken over.
 *
 * foil's tools count what peers have sent and nobody has read, cut off those
 * beyond a bound, and take so many connections at most.  Another program does
 * not: a part, and the number of whole messages that wait, are bounded there,
 * but not parts of one message, what comes before the handshake, or
 * connections.  So any process that reaches its endpoint can fill its memory:
 * on ipc any user who may enter the folder, on tcp anybody, keys or not.
 *
 *     endpoint   "ipc://PATH" or "tcp://HOST:PORT"
 *     limits     copied
 *     role       used with keys: the role that the binder's key must have,
 *                "train"
 */
struct wire_sock *wire_sock_bind(struct wire *wire, enum wire_type type,
                                 const char *endpoint,
                                 const struct wire_limits *limits,
                                 struct err *err);
struct wire_sock *wire_sock_connect(struct wire *wire, enum wire_type type,
                                    const char *endpoint, const char *role,
                                    const struct wire_limits *limits,
                                    struct err *err);

/* wire_sock_close() closes a socket; ZeroMQ has two seconds more for what is
 * unsent.  Harmless on NULL. */
void wire_sock_close(struct wire_sock *sock);

/* wire_sock_endpoint() returns where a socket is bound, with the port that
 * "tcp://...:*" was given. */
const char *wire_sock_endpoint(const struct wire_sock *sock);

/* A routing id: the peer that a ROUTER talks to. */
struct wire_id {
    uint8_t len, byte[255];
};

/*
 * wire_sock_recv() takes the next message that is there.
 *   from   its sender, on a ROUTER; else NULL
 *
 * Returns 1 with a message, to be given to wire_msg_free(), 0 when none is
 * there, -1 with a sentence when what came was refused and dropped: go on;
 * wire_sock_subject() says what is known of it.
 */
int wire_sock_recv(struct wire_sock *sock, struct wire_id *from,
                   struct wire_msg **msg, struct err *err);

/* wire_sock_subject() returns what is known of the message that was refused
 * last. */
const struct wire_subject *wire_sock_subject(const struct wire_sock *sock);

/*
 * wire_sock_send() sends without waiting; msg stays the caller's.
 *   to   on a ROUTER; else NULL
 *
 * Returns 1: it is on its way, 0: not now (a DEALER that is not connected, a
 * queue that is full, a PUB with too much unsent), -1: that peer is gone.
 */
int wire_sock_send(struct wire_sock *sock, const struct wire_id *to,
                   struct wire_msg *msg);

/*
 * wire_sock_beat() lets msg be sent each second from now on, as a sign of
 * life; NULL ends that.  The socket holds it.
 */
void wire_sock_beat(struct wire_sock *sock, struct wire_msg *msg);

/*
 * wire_sock_tend() lets wire_wait() and wire_beat() call tend() for a socket,
 * to send the messages that are due.  tend() returns the time, by clock_now(),
 * of its next call, at the latest.
 *
 *     self   first argument of tend(); must stay while the socket is open
 *     up     1: somebody is connected
 *     now    clock_now()
 */
void wire_sock_tend(struct wire_sock *sock,
                    double (*tend)(void *self, int up, double now), void *self);

/*
 * wire_sock_wait() is wire_wait() for one socket: messages on others do not
 * end it.  sock NULL: it waits for no message, as a sleep.
 */
int wire_sock_wait(struct wire *wire, struct wire_sock *sock, int stop_fd,
                   double seconds, struct err *err);

/*
 * wire_sock_soon() sends msg as soon as somebody is connected, from inside
 * wire_wait(); it replaces a message that still waits.  NULL ends that.
 */
void wire_sock_soon(struct wire_sock *sock, struct wire_msg *msg);

/*
 * wire_sock_met() returns 1 when somebody is connected to a DEALER, or has been
 * to a socket that binds.
 */
int wire_sock_met(const struct wire_sock *sock);

/*
 * wire_sock_lost() returns 1 when the connection of a DEALER was lost since
 * it was asked last.  ZeroMQ connects again by itself; the process that it
 * meets then may be another one.
 */
int wire_sock_lost(struct wire_sock *sock);

/*
 * wire_sock_trouble() returns 1 with the reason while a DEALER cannot connect
 * over tcp, else 0.
 */
int wire_sock_trouble(const struct wire_sock *sock, struct err *why);

/*
 * wire_refused() returns 1 when connections were refused since it was asked
 * last and that is to be printed (the 1st, 2nd, 4th ... of all), with the last
 * reason: unknown key, no key, the other end does not know ours, a peer that
 * sent too much, too many connections.  It also does so, once, when a tcp
 * endpoint was bound without keys: any user of this machine can connect to it.
 */
int wire_refused(struct wire *wire, struct err *why);

/*
 * wire_sock_admit() says that the peer whose message a ROUTER received last is
 * one of ours: its connection may have a message of the edge under way from now
 * on (wire_edge_message()).
 */
void wire_sock_admit(struct wire_sock *sock);

/* wire_sock_expect() sets how many bytes an admitted peer may have under way,
 * also one that was admitted before. */
void wire_sock_expect(struct wire_sock *sock, size_t bytes);

/* wire_sock_unsent() returns how many bytes of what a PUB sent its subscribers
 * have not taken, messages of WIRE_PUBLISHED_SMALL and less not counted. */
size_t wire_sock_unsent(const struct wire_sock *sock);

/* wire_sock_follow() subscribes a SUB to a kind, such as "metrics"; "": all. */
void wire_sock_follow(struct wire_sock *sock, const char *kind);

/*
 * wire_sock_topic() takes the next change of the topics that are followed on a
 * PUB: 1, or 0 when there is none.
 *   on     1: the topic has its first follower, 0: its last one is gone
 *   topic  the first `room` bytes of it; *n is its whole length
 */
int wire_sock_topic(struct wire_sock *sock, int *on, char *topic, size_t room,
                    size_t *n);

#endif
