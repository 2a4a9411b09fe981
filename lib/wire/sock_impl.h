#ifndef WIRE_SOCK_IMPL_H
#define WIRE_SOCK_IMPL_H

#include <zmq.h>

#include "util/err.h"
#include "wire/error.h"
#include "wire/sock.h"

/*
 * Shared by lib/wire/sock.c (one socket) and lib/wire/wait.c (all of them), and
 * private to this room.
 */
struct wire {
    void *context;
    struct wire_zap *zap; /* NULL: no keys */
    const struct wire_keys *keys;
    struct wire_sock *first;
    zmq_pollitem_t *items; /* of wire_wait() */
    size_t room;
    unsigned long monitors; /* made so far: ZeroMQ is slow to free a name */
    struct tally refused;   /* connections */
    struct err why;         /* the last of them that is to be printed */
    int unreported;         /* `why` is */
    struct err open; /* warning for the first tcp endpoint without keys, */
    int opened;      /* which was bound */
};

struct wire_sock {
    struct wire *wire;
    struct wire_sock *next;
    void *socket, *monitor;
    enum wire_type type;
    int binds, bound;
    size_t most;  /* bytes of a received message */
    int gate;     /* of a binder in a tool (wire/gate.h), else -1 */
    int from;     /* descriptor of the last message's connection, or -1 */
    int accepted; /* a binder without a gate: it has accepted a connection */
    int up, lost; /* DEALER: connected; was connected, and is no more */
    char endpoint[256];
    struct wire_unsent *unsent; /* PUB: bytes queued for subscribers */
    struct wire_msg *beat, *pending;
    double beat_at;
    double (*on_tick)(void *self, int up,
                      double now); /* NULL: nothing is due */
    void *self;
    double due;                  /* when it is to be called again */
    struct wire_subject subject; /* of the last refused message */
    struct err trouble;          /* why connections fail; "": they do not */
};

/* wire_gate_guards() returns 1 when ZeroMQ reads through the gate of this
 * program: it sends a byte through it, once in a process. */
int wire_gate_guards(void);

#endif
