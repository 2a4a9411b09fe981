#ifndef WIRE_INSIDE_H
#define WIRE_INSIDE_H

#include <zmq.h>

#include "util/tally.h"
#include "wire/error.h"
#include "wire/sock.h"

/*
 * What lib/wire/sock.c (one socket) and lib/wire/wait.c (all of them) share;
 * nobody else looks in here.
 */
struct wire {
    void *context;
    struct wire_zap *zap; /* NULL: no keys */
    const struct wire_keys *keys;
    struct wire_sock *first;
    zmq_pollitem_t *items; /* of wire_wait() */
    size_t room;
    unsigned long monitors; /* so far: ZeroMQ is slow to free a name */
    struct tally refused;   /* connections */
    struct err why;         /* the last of them that is to be printed */
    int say;
    struct err open; /* the first tcp endpoint without keys, to be printed; */
    int opened;      /* there is one */
};

struct wire_sock {
    struct wire *wire;
    struct wire_sock *next;
    void *socket, *monitor;
    enum wire_type type;
    int binds, bound;
    size_t most;  /* bytes of a message that comes */
    int gate;     /* of a binder in a tool (wire/gate.h), else -1 */
    int from;     /* the descriptor that the last message came by, or -1 */
    int met;      /* a binder without a gate: a connection was taken */
    int up, lost; /* DEALER: somebody is there; was, and went */
    char endpoint[256];
    struct wire_unsent *unsent; /* PUB: what waits for subscribers */
    struct wire_msg *beat, *soon;
    double beat_at;
    double (*tend)(void *self, int up, double now); /* NULL: nothing is due */
    void *self;
    double due;                  /* when it is to be called again */
    struct wire_subject subject; /* what was refused last */
    struct err trouble; /* why connections come to nothing; "": they do not */
};

/* wire_gate_guards() returns 1 when ZeroMQ reads through the gate of this
 * program: it sends a byte through it, once in a process. */
int wire_gate_guards(void);

#endif
