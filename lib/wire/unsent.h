#ifndef WIRE_UNSENT_H
#define WIRE_UNSENT_H

#include <stddef.h>
#include <zmq.h>

#include "wire/msg.h"

/*
 * How many bytes of what was published ZeroMQ still holds for subscribers: for
 * the files of this room.
 *
 * ZeroMQ queues messages by their number, and does not tell how many wait.  But
 * it tells when nobody has a part any more, and these are counted: parts of
 * more than WIRE_PUBLISHED_SMALL bytes, once each, however many subscribers
 * they wait for.  They lie in memory that is used again, WIRE_PUBLISHED bytes
 * at most that nothing lies in: parts of some MiB that come and go between
 * others left the heap five times as large as what it held.
 *
 * wire_unsent_share() may be called by one thread at a time; ZeroMQ's own let
 * parts go meanwhile.
 */
struct wire_unsent;

struct wire_unsent *wire_unsent_new(void);

/* wire_unsent_free() may be called while parts are held. */
void wire_unsent_free(struct wire_unsent *unsent);

/* wire_unsent_bytes() returns how many bytes are held now. */
size_t wire_unsent_bytes(struct wire_unsent *unsent);

/* wire_unsent_share() is wire_msg_share() of a copy, and counts the part. */
void wire_unsent_share(struct wire_unsent *unsent, const struct wire_msg *msg,
                       size_t i, zmq_msg_t *part);

#endif
