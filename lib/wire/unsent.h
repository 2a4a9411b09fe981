#ifndef WIRE_UNSENT_H
#define WIRE_UNSENT_H

#include <stddef.h>
#include <zmq.h>

#include "wire/msg.h"

/*
 * Counts the published bytes that ZeroMQ still has queued for subscribers;
 * private to this room.
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

#endif
