#pragma once

#include <zmq.h>

#include "util/err.h"
#include "wire/error.h"
#include "wire/sock.h"

/* One socket (lib/wire/connect.c opens it, sock.c uses it) and all of them
 * (wait.c), with the check of keys and the count of unsent bytes. */
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
    int unreported;         /* 1: `why` is not yet printed */
    struct err no_keys;     /* warning: a tcp endpoint without keys */
    int has_no_keys;        /* 1: one was bound */
    struct err old_peer;    /* warning: a peer of version 2 */
    int has_old_peer;       /* 1: one has sent a message */
};

struct wire_sock {
    struct wire *wire;
    struct wire_sock *next;
    void *socket, *monitor;
    enum wire_type type;
    int binds, bound;
    size_t most;  /* bytes of a received message */
    int gate;     /* descriptor that a gate guards (wire/gate.h); -1: none */
    int from;     /* descriptor of the last message's connection, or -1 */
    int accepted; /* 1: a binder without a gate accepted a connection */
    int up, lost; /* DEALER, 1: it is connected; it lost a connection */
    int version;  /* of the binder's protocol; 0: ours, or not known */
    int hellos;   /* sent since the last message of the binder */
    int forwards; /* 1: a proxy, forwards messages unchanged */
    char endpoint[256];
    struct wire_unsent *unsent; /* PUB: bytes queued for subscribers */
    struct wire_msg *pending;   /* to be sent when a peer is connected */
    double (*on_tick)(void *self, int up,
                      double now); /* NULL: nothing is due */
    void *self;
    double due;                  /* when it is to be called again */
    struct wire_subject subject; /* of the last refused message */
    struct err trouble;          /* why connections fail; "": they do not */
};

/*
 * ZAP (rfc.zeromq.org/spec/27): ZeroMQ asks this handler whether a CURVE key is
 * allowed, and receives the key's role, which every message then carries.  A
 * separate thread answers, so that a peer can connect while the stage computes:
 * it uses its socket and `keys`, which do not change, and takes no signals.
 *
 * wire_zap_open() binds the handler in a ZeroMQ context, before any socket that
 * needs it, and starts the thread.  NULL with a message on error.
 *   keys   allowed certificates, borrowed until wire_zap_close()
 *
 * wire_zap_refused() returns how many keys were refused since the last call,
 * with the reason of the last of them.  May be called while the thread runs.
 *
 * wire_zap_close() shuts the context down, which ends the thread, and waits for
 * that.  The caller still calls zmq_ctx_term().  Harmless on NULL.
 */
struct wire_zap *wire_zap_open(void *context, const struct wire_keys *keys,
                               struct err *err);
unsigned wire_zap_refused(struct wire_zap *zap, struct err *why);
void wire_zap_close(struct wire_zap *zap);

/*
 * Counts the published bytes that ZeroMQ still has queued for subscribers.
 *
 * ZeroMQ limits its queues by the number of messages and does not report how
 * much is queued.  But it calls a function when a part is no longer in use.  So
 * parts of more than WIRE_PUBLISHED_SMALL bytes are counted until then, once
 * each, however many subscribers they wait for.  Their buffers are reused; up
 * to WIRE_PUBLISHED bytes of them are free.  (With malloc() for each part,
 * parts of some MiB between other blocks made the heap five times as large as
 * its content.)
 *
 * wire_unsent_share() may be called by one thread at a time, while ZeroMQ's own
 * threads release parts.
 */
struct wire_unsent;

struct wire_unsent *wire_unsent_new(void);

/* wire_unsent_free() may be called while parts are in use. */
void wire_unsent_free(struct wire_unsent *unsent);

/* wire_unsent_bytes() returns how many bytes are in use now. */
size_t wire_unsent_bytes(struct wire_unsent *unsent);

/* wire_unsent_share() is wire_msg_share() with a copy, and counts the part. */
void wire_unsent_share(struct wire_unsent *unsent, const struct wire_msg *msg,
                       size_t i, zmq_msg_t *part);
