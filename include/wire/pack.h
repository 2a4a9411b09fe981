#ifndef WIRE_PACK_H
#define WIRE_PACK_H

#include <msgpack.h>

#include "wire/msg.h"

/*
 * How the files of this room, one per message, write and read a header.
 *
 * A writer collects keys and tensors; a broken limit is a bug of ours.
 *
 *     struct wire_writer w;
 *     wire_write_start(&w, WIRE_NEXT);
 *     wire_write_whole(&w, "credit", next->credit);
 *     return wire_write_end(&w);
 */
struct wire_writer {
    enum wire_kind kind;
    msgpack_sbuffer body; /* keys and values, without the map's own tag */
    msgpack_packer packer;
    size_t keys, n;
    struct wire_tensor tensor[WIRE_TENSORS_MAX];
};

void wire_write_start(struct wire_writer *w, enum wire_kind kind);
void wire_write_key(struct wire_writer *w, const char *key);
void wire_write_whole(struct wire_writer *w, const char *key, int64_t value);
void wire_write_real(struct wire_writer *w, const char *key, double value);
void wire_write_text(struct wire_writer *w, const char *key, const char *value);
void wire_write_flag(struct wire_writer *w, const char *key, int value);

/* A map in the header: its n pairs are written next. */
void wire_write_map(struct wire_writer *w, const char *key, size_t n);

/*
 * wire_write_tensor() adds an array; its data must last until the end.  The
 * sizes follow, `rank` of them, as size_t[].
 */
void wire_write_tensor(struct wire_writer *w, const char *name,
                       enum wire_dtype dtype, const void *data, size_t rank,
                       const size_t *shape);

struct wire_msg *wire_write_end(struct wire_writer *w);

/*
 * A reader judges as it reads.  The first fault is put into err, rc becomes
 * -1, and every further read gives 0, so that a decoder checks once.
 */
struct wire_reader {
    const struct wire_msg *msg;
    const msgpack_object *map;
    struct err *err;
    int rc;
};

struct wire_reader wire_read_start(const struct wire_msg *msg, struct err *err);

/* wire_read_fail() is for what decoders find themselves. */
void wire_read_fail(struct wire_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* wire_read_has() returns 1 when the key is there. */
int wire_read_has(struct wire_reader *r, const char *key);

/* Required keys.  Reals take integers too; text has no zero byte inside. */
int64_t wire_read_whole(struct wire_reader *r, const char *key, int64_t min,
                        int64_t max);
double wire_read_real(struct wire_reader *r, const char *key, double min,
                      double max);
void wire_read_text(struct wire_reader *r, const char *key, char *to,
                    size_t room);

/* Optional keys: 0 and "" when they are missing. */
int wire_read_flag(struct wire_reader *r, const char *key);
void wire_read_text_if(struct wire_reader *r, const char *key, char *to,
                       size_t room);

/* wire_read_map() returns a reader of the map under a required key. */
struct wire_reader wire_read_map(struct wire_reader *r, const char *key);

/* wire_read_array() returns an optional array, NULL when it is missing. */
const msgpack_object_array *wire_read_array(struct wire_reader *r,
                                            const char *key);

/* wire_object_whole(): an integer in min .. max, 0; or -1. */
int wire_object_whole(const msgpack_object *object, int64_t min, int64_t max,
                      int64_t *value);
int wire_object_real(const msgpack_object *object, double *value);

/* A required, or an optional, tensor of that dtype and rank. */
const struct wire_tensor *wire_read_tensor(struct wire_reader *r,
                                           const char *name,
                                           enum wire_dtype dtype, size_t rank);
const struct wire_tensor *wire_read_tensor_if(struct wire_reader *r,
                                              const char *name,
                                              enum wire_dtype dtype,
                                              size_t rank);

/*
 * wire_read_ids() returns a vector of sample ids, each in 0 .. size - 1 (any
 * that is not negative when size is 0), with its length, at least
 * 1, in *n.  An optional one that is missing is NULL and 0.
 */
const int64_t *wire_read_ids(struct wire_reader *r, const char *name,
                             int64_t size, size_t *n);
const int64_t *wire_read_ids_if(struct wire_reader *r, const char *name,
                                int64_t size, size_t *n);

/* wire_read_distinct() refuses ids of which one is there twice. */
void wire_read_distinct(struct wire_reader *r, const char *name,
                        const int64_t *ids, size_t n);

/* The parsed header of a message. */
const msgpack_object *wire_msg_header(const struct wire_msg *msg);

#endif
