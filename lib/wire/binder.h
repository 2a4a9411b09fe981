#ifndef WIRE_BINDER_H
#define WIRE_BINDER_H

#include "wire/server.h"

#include "kept.h"
#include "peers.h"

/*
 * The inside of wire/server.h: lib/wire/binder.c checks what comes in,
 * lib/wire/server.c is what tools call.
 */
struct wire_server {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_edge edge;
    struct wire_hello hello;
    int (*judge)(void *self, const struct wire_hello *hello, struct err *err);
    void *self;
    struct wire_peers peers;
    struct wire_kept kept;
    struct tally refused;   /* messages */
    struct tally told;      /* errors about messages of ours */
    struct tally strangers; /* messages of peers without hello */
    struct wire_msg *msg;   /* of the news that is out, */
    uint64_t from;          /* and its sender; 0: none */
    int refused_it;         /* by the tool */
};

/*
 * wire_binder_take() deals with a message that came, wire_binder_unread() with
 * one that could not be read: 1 when there is news, else 0.
 */
int wire_binder_take(struct wire_server *server, const struct wire_id *from,
                     struct wire_msg *msg, struct wire_news *news);
int wire_binder_unread(struct wire_server *server, const struct wire_id *from,
                       struct wire_news *news);

/*
 * wire_binder_refuse() refuses a message of a peer because of news->why, tells
 * the peer, and sends it away where that was one too many: 1 when the news is
 * to be printed.
 */
int wire_binder_refuse(struct wire_server *server, struct wire_peer *peer,
                       const struct wire_subject *subject,
                       struct wire_news *news);

/* wire_binder_settle() lets go of the message of the last news: it was a good
 * one, unless the tool refused it. */
void wire_binder_settle(struct wire_server *server);

/*
 * wire_binder_send() returns 1 when msg is sent, else 0; a peer that is gone
 * has left then.  wire_binder_tell() is the same and frees msg.  A peer whose
 * queue is full is behind, not gone: silence is what ends it.
 */
int wire_binder_send(struct wire_server *server, struct wire_peer *peer,
                     struct wire_msg *msg);
int wire_binder_tell(struct wire_server *server, struct wire_peer *peer,
                     struct wire_msg *msg);

#endif
