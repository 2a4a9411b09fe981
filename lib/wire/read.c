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
