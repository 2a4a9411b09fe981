#ifndef WIRE_RAW_H
#define WIRE_RAW_H

#include <zmq.h>

#include "wire/error.h"

/*
 * Conversion between messages and ZeroMQ, private to this room.
 *
 * wire_msg_parse() makes a message of n parts and takes ownership of them: they
 * are empty or closed afterwards, also on error.  With `stranger` it checks
 * everything, as wire_msg_from() does; for a message of ours it skips the
 * search for floats that are not finite.  *subject describes a message that is
 * refused.
 */
struct wire_msg *wire_msg_parse(size_t n, zmq_msg_t *parts, int stranger,
                                struct wire_subject *subject, struct err *err);

/* wire_msg_share() makes `part` share the bytes of part i. */
void wire_msg_share(const struct wire_msg *msg, size_t i, zmq_msg_t *part);

/* wire_part_copy() initialises a part with a copy of the bytes. */
void wire_part_copy(zmq_msg_t *part, const void *data, size_t len);

#endif
