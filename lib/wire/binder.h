#ifndef WIRE_BINDER_H
#define WIRE_BINDER_H

#include "wire/server.h"

#include "kept.h"
#include "peers.h"

/*
 * The inside of wire/server.h: lib/wire/binder.c judges and books what comes
 * in, lib/wire/server.c is what tools call.
 */
struct wire_server {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_end_kind kind;
    struct wire_hello hello;
    struct wire_peers peers;
    struct wire_kept kept;
    struct tally bad;
    struct tally told;      /* errors about messages of ours */
    struct tally strangers; /* messages of peers without hello */
    struct wire_msg *msg;   /* of the news that is out */
};

/*
 * wire_binder_take() deals with a message that came: 1 when there is news,
 * else 0.
 */
int wire_binder_take(struct wire_server *server, const struct wire_id *from,
                     struct wire_msg *msg, struct wire_news *news);

/*
 * wire_binder_bad() turns news->why into news about a peer (or NULL) that
 * sent nonsense, and tells the peer: 1 when it should be said.
 */
int wire_binder_bad(struct wire_server *server, struct wire_peer *peer,
                    struct wire_news *news);

/* wire_binder_doubt() is the same for what is no malformed message. */
int wire_binder_doubt(struct wire_server *server, struct wire_peer *peer,
                      struct wire_news *news);

/*
 * wire_binder_send() returns 1 when msg is sent, else 0; a peer that is gone
 * has left then.  wire_binder_tell() is the same and frees msg.  A peer whose
 * queue is full is behind, not gone: silence is what ends it.
 */
int wire_binder_send(struct wire_server *server, struct wire_peer *peer,
                     struct wire_msg *msg);
int wire_binder_tell(struct wire_server *server, struct wire_peer *peer,
                     struct wire_msg *msg);

/* wire_binder_refuse() answers a stranger with an error. */
void wire_binder_refuse(struct wire_server *server, const struct wire_id *to,
                        const char *reason, int again);

#endif
