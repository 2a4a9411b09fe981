#ifndef WIRE_BODY_H
#define WIRE_BODY_H

#include <msgpack.h>
#include <zmq.h>

#include "wire/msg.h"

/* A message, for lib/wire/msg.c, which returns its parts, and lib/wire/parse.c,
 * which checks them. */
struct wire_msg {
    size_t holders; /* references */
    enum wire_kind kind;
    const char *name; /* of the kind */
    char role[32];
    size_t n_parts, n_tensors;
    zmq_msg_t *parts;           /* [n_parts] */
    struct wire_tensor *tensor; /* [n_tensors] */
    void **aligned;             /* [n_tensors] copies, NULL where not needed */
    msgpack_unpacked header;
};

#endif
