#ifndef WIRE_RAW_H
#define WIRE_RAW_H

#include <zmq.h>

#include "wire/error.h"

/*
 * Between messages and ZeroMQ: for the files of this room.
 *
 * wire_msg_parse() makes a message of n parts, which it takes over: they are
 * empty or closed afterwards, also on error.  A stranger's is checked whole,
 * as wire_msg_from() does; our own is not searched for floats that are not
 * finite.  *subject says what is known of it where it is refused.
 */
struct wire_msg *wire_msg_parse(size_t n, zmq_msg_t *parts, int stranger,
                                struct wire_subject *subject, struct err *err);

/* wire_msg_share() makes `part` another holder of part i's bytes. */
void wire_msg_share(const struct wire_msg *msg, size_t i, zmq_msg_t *part);

/* wire_part_copy() fills a new part with a copy of the bytes. */
void wire_part_copy(zmq_msg_t *part, const void *data, size_t len);

#endif
