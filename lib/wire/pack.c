#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/pack.h"

#include "raw.h"

void
wire_write_start(struct wire_writer *w, enum wire_kind kind)
{
    w->kind = kind;
    w->keys = w->n = 0;
    msgpack_sbuffer_init(&w->body);
    msgpack_packer_init(&w->packer, &w->body, msgpack_sbuffer_write);
}

static void
put_text(struct wire_writer *w, const char *text)
{
    size_t n = strlen(text);

    msgpack_pack_str(&w->packer, n);
    msgpack_pack_str_body(&w->packer, text, n);
}

void
wire_write_key(struct wire_writer *w, const char *key)
{
    w->keys++;
    put_text(w, key);
}

void
wire_write_whole(struct wire_writer *w, const char *key, int64_t value)
{
    wire_write_key(w, key);
    msgpack_pack_int64(&w->packer, value);
}

void
wire_write_real(struct wire_writer *w, const char *key, double value)
{
    REQUIRE(isfinite(value));
    wire_write_key(w, key);
    msgpack_pack_double(&w->packer, value);
}

void
wire_write_text(struct wire_writer *w, const char *key, const char *value)
{
    wire_write_key(w, key);
    put_text(w, value);
}

void
wire_write_flag(struct wire_writer *w, const char *key, int value)
{
    wire_write_key(w, key);
    if (value)
        msgpack_pack_true(&w->packer);
    else
        msgpack_pack_false(&w->packer);
}

void
wire_write_map(struct wire_writer *w, const char *key, size_t n)
{
    wire_write_key(w, key);
    msgpack_pack_map(&w->packer, n);
    w->keys -= n; // its own keys are written the same way, and count there
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
        put_text(w, t->name);
        put_text(w, wire_dtype_name(t->dtype));
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
    return (struct wire_reader){msg, wire_msg_header(msg), err, 0};
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
static const msgpack_object *
find(struct wire_reader *r, const char *key)
{
    const msgpack_object *found = NULL;
    const size_t n = strlen(key);

    for (size_t i = 0; !r->rc && i < r->map->via.map.size; i++) {
        const msgpack_object_kv *kv = &r->map->via.map.ptr[i];

        if (kv->key.via.str.size != n || memcmp(kv->key.via.str.ptr, key, n))
            continue;
        if (found)
            wire_read_fail(r, "'%s' is there twice", key);
        found = &kv->val;
    }
    return r->rc ? NULL : found;
}

static const msgpack_object *
need(struct wire_reader *r, const char *key)
{
    const msgpack_object *o = find(r, key);

    if (!o)
        wire_read_fail(r, "'%s' is missing", key);
    return o;
}

int
wire_read_has(struct wire_reader *r, const char *key)
{
    return find(r, key) != NULL;
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

int
wire_object_real(const msgpack_object *o, double *value)
{
    if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        *value = o->via.f64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *value = (double)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *value = (double)o->via.i64;
    else
        return -1;
    return isfinite(*value) ? 0 : -1;
}

int64_t
wire_read_whole(struct wire_reader *r, const char *key, int64_t min,
                int64_t max)
{
    const msgpack_object *o = need(r, key);
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

double
wire_read_real(struct wire_reader *r, const char *key, double min, double max)
{
    const msgpack_object *o = need(r, key);
    double value = 0;

    if (!o)
        return 0;
    if (wire_object_real(o, &value) || value < min || value > max) {
        wire_read_fail(r, "'%s' is no number in %g .. %g", key, min, max);
        return 0;
    }
    return value;
}

static void
take_text(struct wire_reader *r, const char *key, const msgpack_object *o,
          char *to, size_t room)
{
    *to = 0;
    if (!o)
        return;
    if (o->type != MSGPACK_OBJECT_STR || o->via.str.size >= room ||
        memchr(o->via.str.ptr, 0, o->via.str.size)) {
        wire_read_fail(r, "'%s' is no text of at most %zu bytes", key,
                       room - 1);
        return;
    }
    memcpy(to, o->via.str.ptr, o->via.str.size);
    to[o->via.str.size] = 0;
}

void
wire_read_text(struct wire_reader *r, const char *key, char *to, size_t room)
{
    take_text(r, key, need(r, key), to, room);
}

void
wire_read_text_if(struct wire_reader *r, const char *key, char *to, size_t room)
{
    take_text(r, key, find(r, key), to, room);
}

int
wire_read_flag(struct wire_reader *r, const char *key)
{
    const msgpack_object *o = find(r, key);

    if (!o)
        return 0;
    if (o->type != MSGPACK_OBJECT_BOOLEAN) {
        wire_read_fail(r, "'%s' is neither true nor false", key);
        return 0;
    }
    return o->via.boolean;
}

struct wire_reader
wire_read_map(struct wire_reader *r, const char *key)
{
    static const msgpack_object empty = {.type = MSGPACK_OBJECT_MAP};
    struct wire_reader inner = *r;

    inner.map = need(r, key);
    if (inner.map && inner.map->type != MSGPACK_OBJECT_MAP)
        wire_read_fail(r, "'%s' is no map", key);
    if (r->rc)
        inner.map = &empty;
    inner.rc = r->rc;
    return inner;
}

const msgpack_object_array *
wire_read_array(struct wire_reader *r, const char *key)
{
    const msgpack_object *o = find(r, key);

    if (!o)
        return NULL;
    if (o->type != MSGPACK_OBJECT_ARRAY) {
        wire_read_fail(r, "'%s' is no array", key);
        return NULL;
    }
    return &o->via.array;
}

const struct wire_tensor *
wire_read_tensor_if(struct wire_reader *r, const char *name,
                    enum wire_dtype dtype, size_t rank)
{
    const struct wire_tensor *t = wire_msg_find(r->msg, name);

    if (r->rc || !t)
        return NULL;
    if (t->dtype != dtype || t->rank != rank) {
        wire_read_fail(r, "tensor '%s' is %s of %zu sizes, want %s of %zu",
                       name, wire_dtype_name(t->dtype), t->rank,
                       wire_dtype_name(dtype), rank);
        return NULL;
    }
    return t;
}

const struct wire_tensor *
wire_read_tensor(struct wire_reader *r, const char *name, enum wire_dtype dtype,
                 size_t rank)
{
    if (!wire_msg_find(r->msg, name))
        wire_read_fail(r, "tensor '%s' is missing", name);
    return wire_read_tensor_if(r, name, dtype, rank);
}

const int64_t *
wire_read_ids_if(struct wire_reader *r, const char *name, int64_t size,
                 size_t *n)
{
    const struct wire_tensor *t = wire_read_tensor_if(r, name, WIRE_I8, 1);
    const int64_t *ids;

    *n = 0;
    if (!t)
        return NULL;
    if (t->count < 1) {
        wire_read_fail(r, "tensor '%s' is empty", name);
        return NULL;
    }
    ids = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (ids[i] >= 0 && (!size || ids[i] < size))
            continue;
        wire_read_fail(r, "id %jd in '%s' is not in the data set of %jd",
                       (intmax_t)ids[i], name, (intmax_t)size);
        return NULL;
    }
    *n = t->count;
    return ids;
}

const int64_t *
wire_read_ids(struct wire_reader *r, const char *name, int64_t size, size_t *n)
{
    if (!wire_msg_find(r->msg, name))
        wire_read_fail(r, "tensor '%s' is missing", name);
    return wire_read_ids_if(r, name, size, n);
}

static int
compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void
wire_read_distinct(struct wire_reader *r, const char *name, const int64_t *ids,
                   size_t n)
{
    int64_t *sorted;

    if (r->rc || n < 2)
        return;
    sorted = mem_array(n, sizeof *sorted);
    memcpy(sorted, ids, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1])
            wire_read_fail(r, "sample %jd is in '%s' twice",
                           (intmax_t)sorted[i], name);
    free(sorted);
}
