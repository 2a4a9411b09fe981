#pragma once

#include <msgpack.h>
#include <zmq.h>

#include "wire/error.h"

/* A message and its bytes, private to this room: lib/wire/parse.c checks its
 * parts, lib/wire/msg.c returns them. */
struct wire_msg {
    size_t holders; /* references */
    enum wire_kind kind;
    int version;      /* of the protocol, WIRE_VERSION or WIRE_VERSION_OLD */
    const char *name; /* of the kind */
    char role[32];
    size_t n_parts, n_tensors;
    zmq_msg_t *parts;           /* [n_parts] */
    struct wire_tensor *tensor; /* [n_tensors] */
    void **aligned;             /* [n_tensors] copies, NULL where not needed */
    msgpack_unpacked header;
};

/*
 * wire_msg_parse() makes a message of n parts and takes ownership of them: they
 * are empty or closed afterwards, also on error.  With `stranger` it checks
 * everything, as wire_msg_from() does; for a message of ours it skips the
 * search for floats that are not finite.  *subject describes a message that is
 * refused.
 */
struct wire_msg *wire_msg_parse(size_t n, zmq_msg_t *parts, int stranger,
                                struct wire_subject *subject, struct err *err);

/*
 * Version 2 of the protocol differs from version 3 in some names
 * (lib/wire/version2.c).
 *
 * wire_kind_find() returns the kind of that name in a version, or WIRE_KINDS.
 *
 * wire_topic() writes part 0 of messages of a kind, "foil3.batch", to
 * topic[WIRE_TOPIC_MAX], and returns its length; for WIRE_KINDS what part 0 of
 * all kinds begins with, "foil3.".
 *
 * wire_rename() gives the keys and tensors in the header of a message of
 * version 2 the names of version 3; with to_old, those of version 3 the names
 * of version 2, and a hello the version to_old.
 *
 * wire_msg_to_old() returns a message as one of version 2, to be freed by
 * wire_msg_free().  A hello in it has the given version.
 */
enum { WIRE_TOPIC_MAX = 32 };
enum wire_kind wire_kind_find(const char *name, size_t n, int version);
size_t wire_topic(enum wire_kind kind, int version, char *topic);
void wire_rename(enum wire_kind kind, int to_old, msgpack_object *header);
struct wire_msg *wire_msg_to_old(const struct wire_msg *msg, int version);

/* wire_msg_share() makes `part` share the bytes of part i. */
void wire_msg_share(const struct wire_msg *msg, size_t i, zmq_msg_t *part);

/* wire_part_copy() initialises a part with a copy of the bytes. */
void wire_part_copy(zmq_msg_t *part, const void *data, size_t len);

/*
 * wire_guard() checks the bytes of a header before msgpack-c, which allocates
 * by declared counts, reads them: `dd ff 00 00 00` would make it allocate
 * gigabytes.  It accepts one map with text keys, of at most WIRE_HEADER_MAX
 * bytes, WIRE_DEPTH_MAX deep, with every declared count and length within the
 * remaining bytes, and nothing after it.  Extension types are refused.  Returns
 * 0 or -1; allocates nothing; O(len).
 */
int wire_guard(const void *bytes, size_t len, struct err *err);

/* A writer collects keys and tensors of a header; a broken limit is a bug of
 * ours.  The caller packs the value of a key itself, those of a map key by
 * key. */
struct wire_writer {
    enum wire_kind kind;
    msgpack_sbuffer body; /* keys and values, without the map's own tag */
    msgpack_packer packer;
    size_t keys, n;
    struct wire_tensor tensor[WIRE_TENSORS_MAX];
};

void wire_write_start(struct wire_writer *w, enum wire_kind kind);
void wire_write_text(struct wire_writer *w, const char *text);
void wire_write_key(struct wire_writer *w, const char *key);

/* wire_write_tensor() adds an array of shape[rank]; its data must be valid
 * until wire_write_end(). */
void wire_write_tensor(struct wire_writer *w, const char *name,
                       enum dtype dtype, const void *data, size_t rank,
                       const size_t *shape);

struct wire_msg *wire_write_end(struct wire_writer *w);

/* A reader checks as it reads.  The first error is stored in err, rc becomes
 * -1, and every further read returns 0, so that a decoder checks once. */
struct wire_reader {
    const struct wire_msg *msg;
    const msgpack_object_map *map; /* the header, or one in it */
    struct err *err;
    int rc;
};

struct wire_reader wire_read_start(const struct wire_msg *msg, struct err *err);

/* wire_read_fail() sets an error that a decoder itself found. */
void wire_read_fail(struct wire_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* wire_read_find() returns the value of a key, NULL when it is missing;
 * wire_read_need() refuses a message without it. */
const msgpack_object *wire_read_find(struct wire_reader *r, const char *key);
const msgpack_object *wire_read_need(struct wire_reader *r, const char *key);

/* wire_read_whole() returns a required whole number in min .. max. */
int64_t wire_read_whole(struct wire_reader *r, const char *key, int64_t min,
                        int64_t max);

/* wire_read_array() returns an optional array, NULL when it is missing. */
const msgpack_object_array *wire_read_array(struct wire_reader *r,
                                            const char *key);

/* wire_object_whole() reads an integer in min .. max: 0, or -1. */
int wire_object_whole(const msgpack_object *object, int64_t min, int64_t max,
                      int64_t *value);
