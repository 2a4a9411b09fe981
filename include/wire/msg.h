#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/dtype.h"
#include "util/err.h"

/*
 * One message of foil's protocol, in memory.
 *
 *     part 0   "foil3.<kind>"                     magic, version, kind
 *     part 1   a msgpack map: the header          at most 64 KiB, depth 4
 *     part 2+  tensors, raw, little-endian, C order, in the order of the
 *              header's "tensors": [[name, dtype, [size ...]] ...]
 *
 * A message never changes once it is made, and is reference-counted.  It keeps
 * the bytes in which it arrived: decoded structs point into it and hold it.
 * Decoders check in this order: well-formed, known, in range, consistent,
 * finite.  A message that fails is refused as a whole, with one error.
 */
struct wire_msg;

enum {
    WIRE_VERSION = 3,
    WIRE_VERSION_OLD = 2,    /* is read, and sent to peers that speak it */
    WIRE_HEADER_MAX = 65536, /* bytes of a header */
    WIRE_DEPTH_MAX = 4,      /* maps and arrays inside each other */
    WIRE_TENSORS_MAX = 64,   /* tensors of a message */
    WIRE_RANK_MAX = 6,       /* sizes of a tensor */
    WIRE_PARTS_MAX = 2 + WIRE_TENSORS_MAX,
    WIRE_NAME_MAX = 64 /* bytes of a tensor's name, with the zero */
};

/* Limits of numbers: sums and products of two of them cannot overflow. */
#define WIRE_EPOCH_MAX ((int64_t)1 << 32)
#define WIRE_STEP_MAX ((int64_t)1 << 48)
#define WIRE_SIZE_MAX ((int64_t)1 << 48)
#define WIRE_DIM_MAX ((int64_t)1 << 16) /* width of an embedding */

enum wire_kind {
    WIRE_HELLO,
    WIRE_ERROR,
    WIRE_WANT,
    WIRE_END,
    WIRE_HEARTBEAT,
    WIRE_REJECT,
    WIRE_ITEM,
    WIRE_BATCH,
    WIRE_FEATURES,
    WIRE_WEIGHTS_GET,
    WIRE_WEIGHTS,
    WIRE_STATE_PUT,
    WIRE_OK,
    WIRE_EVENT,
    WIRE_METRICS,
    WIRE_FEATURES_GET,
    WIRE_PLAN,
    WIRE_STATUS,
    WIRE_TOP_NEGATIVES,
    WIRE_KINDS
};

/* wire_kind_name() returns the part after "foil3.": "hello", "state.put". */
const char *wire_kind_name(enum wire_kind kind);

/*
 * An array of a message, of a type that has a name in foil-wire(5).  On
 * sending, data is copied into the message.  On receipt it points into the
 * message and is aligned for its dtype.  The count is the product of the shape
 * (1 for rank 0).
 */
struct wire_tensor {
    char name[WIRE_NAME_MAX];
    enum dtype dtype;
    size_t rank, shape[WIRE_RANK_MAX];
    size_t count;
    const void *data;
};

/* Raw bytes of one part. */
struct wire_part {
    const void *data;
    size_t len;
};

/*
 * wire_msg_from() makes a message from copies of raw parts: for tests,
 * recordings and fuzzers.  NULL with a message when they are not a message of
 * a version that we read ("peer speaks foil1, this is foil3").  It checks kind,
 * header, tensors with their lengths, and that floats are finite.
 */
struct wire_msg *wire_msg_from(size_t n, const struct wire_part *parts,
                               struct err *err);

/* wire_msg_hold() adds a reference and returns msg. */
struct wire_msg *wire_msg_hold(struct wire_msg *msg);

/* wire_msg_free() drops a reference; the last one frees.  Harmless on NULL. */
void wire_msg_free(struct wire_msg *msg);

enum wire_kind wire_msg_kind(const struct wire_msg *msg);

/* wire_msg_id() reads the id of a request or an answer of any kind: 0, or -1
 * with a message when there is none. */
int wire_msg_id(const struct wire_msg *msg, int64_t *id, struct err *err);

/* wire_msg_role() returns the sender's role when its key was checked (CURVE),
 * else "". */
const char *wire_msg_role(const struct wire_msg *msg);

/* wire_msg_parts() returns the number of parts; wire_msg_part() part i, valid
 * as long as the message. */
size_t wire_msg_parts(const struct wire_msg *msg);
struct wire_part wire_msg_part(const struct wire_msg *msg, size_t i);

/* wire_msg_bytes() returns the bytes of all parts together. */
size_t wire_msg_bytes(const struct wire_msg *msg);

/* wire_msg_tensors() returns the number of tensors; wire_msg_tensor() tensor i,
 * in order: lengths, alignment and floats are checked. */
size_t wire_msg_tensors(const struct wire_msg *msg);
const struct wire_tensor *wire_msg_tensor(const struct wire_msg *msg, size_t i);

/* wire_msg_find() returns the tensor of that name, or NULL. */
const struct wire_tensor *wire_msg_find(const struct wire_msg *msg,
                                        const char *name);
