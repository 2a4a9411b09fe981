#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include <msgpack.h>

#include "wire/msg.h"

/*
 * Writing and reading a header key by key: the basis of lib/wire/encode.c and
 * decode.c, and of code that reads one key of a message of any kind.
 *
 * A writer collects keys and tensors; a broken limit is a bug of ours.  The
 * caller packs the value of a key itself, those of a map key by key.
 */
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

/*
 * wire_write_tensor() adds an array; its data must be valid until
 * wire_write_end().  `rank` sizes follow, as size_t[].
 */
void wire_write_tensor(struct wire_writer *w, const char *name,
                       enum wire_dtype dtype, const void *data, size_t rank,
                       const size_t *shape);

struct wire_msg *wire_write_end(struct wire_writer *w);

/*
 * A reader checks as it reads.  The first error is stored in err, rc becomes
 * -1, and every further read returns 0, so that a decoder checks once.
 */
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

/* The name of a message's kind, and its parsed header. */
const char *wire_msg_name(const struct wire_msg *msg);
const msgpack_object *wire_msg_header(const struct wire_msg *msg);

#endif
