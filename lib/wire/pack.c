#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "raw.h"

void
wire_write_start(struct wire_writer *w, enum wire_kind kind)
{
    w->kind = kind;
    w->keys = w->n = 0;
    msgpack_sbuffer_init(&w->body);
    msgpack_packer_init(&w->packer, &w->body, msgpack_sbuffer_write);
}

void
wire_write_text(struct wire_writer *w, const char *text)
{
    size_t n = strlen(text);

    msgpack_pack_str(&w->packer, n);
    msgpack_pack_str_body(&w->packer, text, n);
}

void
wire_write_key(struct wire_writer *w, const char *key)
{
    w->keys++;
    wire_write_text(w, key);
}

void
wire_write_tensor(struct wire_writer *w, const char *name,
                  enum wire_dtype dtype, const void *data, size_t rank,
                  const size_t *shape)
{
    REQUIRE(w->n < WIRE_TENSORS_MAX);
    wire_tensor_init(&w->tensor[w->n++], name, (enum dtype)dtype, rank, shape,
                     data);
}

static void
put_tensors(struct wire_writer *w)
{
    if (!w->n)
        return;
    wire_write_key(w, "tensors");
    msgpack_pack_array(&w->packer, w->n);
    for (size_t i = 0; i < w->n; i++) {
        const struct wire_tensor *t = &w->tensor[i];

        msgpack_pack_array(&w->packer, 3);
        wire_write_text(w, t->name);
        wire_write_text(w, wire_dtype_name(t->dtype));
        msgpack_pack_array(&w->packer, t->rank);
        for (size_t k = 0; k < t->rank; k++)
            msgpack_pack_uint64(&w->packer, t->shape[k]);
    }
}

struct wire_msg *
wire_write_end(struct wire_writer *w)
{
    zmq_msg_t parts[WIRE_PARTS_MAX];
    msgpack_sbuffer whole;
    msgpack_packer packer;
    struct wire_msg *msg;
    char kind[32];
    struct err err;
    int n;

    put_tensors(w);
    msgpack_sbuffer_init(&whole);
    msgpack_packer_init(&packer, &whole, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, w->keys);
    msgpack_sbuffer_write(&whole, w->body.data, w->body.size);

    n = snprintf(kind, sizeof kind, "foil%d.%s", WIRE_VERSION,
                 wire_kind_name(w->kind));
    wire_part_copy(&parts[0], kind, (size_t)n);
    wire_part_copy(&parts[1], whole.data, whole.size);
    for (size_t i = 0; i < w->n; i++)
        wire_part_copy(&parts[2 + i], w->tensor[i].data,
                       w->tensor[i].count *
                           wire_dtype_bytes(w->tensor[i].dtype));
    msg = wire_msg_adopt(2 + w->n, parts, 0, &err);
    REQUIRE(msg); // what we write, we can read
    msgpack_sbuffer_destroy(&whole);
    msgpack_sbuffer_destroy(&w->body);
    return msg;
}

struct wire_reader
wire_read_start(const struct wire_msg *msg, struct err *err)
{
    return (struct wire_reader){msg, &wire_msg_header(msg)->via.map, err, 0};
}

void
wire_read_fail(struct wire_reader *r, const char *fmt, ...)
{
    va_list ap;
    char why[400];

    if (r->rc)
        return;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    r->rc =
        err_set(r->err, "%s: %s", wire_kind_name(wire_msg_kind(r->msg)), why);
}

/* The value of a key; NULL when it is missing, or there twice, a fault. */
const msgpack_object *
wire_read_find(struct wire_reader *r, const char *key)
{
    const msgpack_object *found = NULL;
    const size_t n = strlen(key);

    for (size_t i = 0; !r->rc && i < r->map->size; i++) {
        const msgpack_object_kv *kv = &r->map->ptr[i];

        if (kv->key.via.str.size != n || memcmp(kv->key.via.str.ptr, key, n))
            continue;
        if (found)
            wire_read_fail(r, "'%s' is there twice", key);
        found = &kv->val;
    }
    return r->rc ? NULL : found;
}

const msgpack_object *
wire_read_need(struct wire_reader *r, const char *key)
{
    const msgpack_object *o = wire_read_find(r, key);

    if (!o)
        wire_read_fail(r, "'%s' is missing", key);
    return o;
}

int
wire_object_whole(const msgpack_object *o, int64_t min, int64_t max,
                  int64_t *value)
{
    if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *value = o->via.i64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
             o->via.u64 <= INT64_MAX)
        *value = (int64_t)o->via.u64;
    else
        return -1;
    return *value >= min && *value <= max ? 0 : -1;
}

int64_t
wire_read_whole(struct wire_reader *r, const char *key, int64_t min,
                int64_t max)
{
    const msgpack_object *o = wire_read_need(r, key);
    int64_t value = 0;

    if (!o)
        return 0;
    if (wire_object_whole(o, min, max, &value)) {
        wire_read_fail(r, "'%s' is no whole number in %jd .. %jd", key,
                       (intmax_t)min, (intmax_t)max);
        return 0;
    }
    return value;
}

const msgpack_object_array *
wire_read_array(struct wire_reader *r, const char *key)
{
    const msgpack_object *o = wire_read_find(r, key);

    if (!o)
        return NULL;
    if (o->type != MSGPACK_OBJECT_ARRAY) {
        wire_read_fail(r, "'%s' is no array", key);
        return NULL;
    }
    return &o->via.array;
}
