#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pack.h"

struct wire_reader
wire_read_start(const struct wire_msg *msg, struct err *err)
{
    return (struct wire_reader){msg, &msg->header.data.via.map, err, 0};
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
    r->rc = err_set(r->err, "%s: %s", r->msg->name, why);
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
        wire_read_fail(r, "'%s' is not a whole number in %jd .. %jd", key,
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
        wire_read_fail(r, "'%s' is not an array", key);
        return NULL;
    }
    return &o->via.array;
}

int
wire_msg_id(const struct wire_msg *msg, int64_t *id, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);

    *id = wire_read_whole(&r, "id", 0, INT64_MAX);
    return r.rc;
}

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
wire_write_tensor(struct wire_writer *w, const char *name, enum dtype dtype,
                  const void *data, size_t rank, const size_t *shape)
{
    struct wire_tensor *t = &w->tensor[w->n++];

    REQUIRE(w->n <= WIRE_TENSORS_MAX && rank <= WIRE_RANK_MAX &&
            strlen(name) < WIRE_NAME_MAX && dtype_about(dtype)->wire);
    *t = (struct wire_tensor){
        .dtype = dtype, .rank = rank, .count = 1, .data = data};
    memcpy(t->name, name, strlen(name));
    for (size_t i = 0; i < rank; i++)
        t->count *= t->shape[i] = shape[i];
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
        wire_write_text(w, dtype_about(t->dtype)->wire);
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
    struct wire_subject subject;
    struct wire_msg *msg;
    char topic[WIRE_TOPIC_MAX];
    struct err err;

    put_tensors(w);
    msgpack_sbuffer_init(&whole);
    msgpack_packer_init(&packer, &whole, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, w->keys);
    msgpack_sbuffer_write(&whole, w->body.data, w->body.size);

    wire_part_copy(&parts[0], topic, wire_topic(w->kind, WIRE_VERSION, topic));
    wire_part_copy(&parts[1], whole.data, whole.size);
    for (size_t i = 0; i < w->n; i++)
        wire_part_copy(&parts[2 + i], w->tensor[i].data,
                       w->tensor[i].count *
                           dtype_about(w->tensor[i].dtype)->bytes);
    msg = wire_msg_parse(2 + w->n, parts, 0, &subject, &err);
    REQUIRE(msg); // a message of ours is valid
    msgpack_sbuffer_destroy(&whole);
    msgpack_sbuffer_destroy(&w->body);
    return msg;
}

struct wire_msg *
wire_msg_to_old(const struct wire_msg *msg, int version)
{
    const struct wire_part part = wire_msg_part(msg, 1);
    zmq_msg_t parts[WIRE_PARTS_MAX];
    msgpack_unpacked header;
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    struct wire_subject subject;
    struct wire_msg *old;
    struct err err;
    char topic[WIRE_TOPIC_MAX];

    msgpack_unpacked_init(&header);
    REQUIRE(msgpack_unpack_next(&header, part.data, part.len, NULL) ==
            MSGPACK_UNPACK_SUCCESS);
    wire_rename(msg->kind, version, &header.data);
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_object(&packer, header.data);
    wire_part_copy(&parts[0], topic,
                   wire_topic(msg->kind, WIRE_VERSION_OLD, topic));
    wire_part_copy(&parts[1], bytes.data, bytes.size);
    for (size_t i = 2; i < msg->n_parts; i++)
        wire_msg_share(msg, i, &parts[i]);
    old = wire_msg_parse(msg->n_parts, parts, 0, &subject, &err);
    REQUIRE(old); // as valid as msg
    msgpack_sbuffer_destroy(&bytes);
    msgpack_unpacked_destroy(&header);
    return old;
}
