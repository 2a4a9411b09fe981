#pragma once

/*
 * A message as an untrusted peer could send it: the parts of a valid one, which
 * a test changes before it makes a message of them.
 */
#include <msgpack.h>
#include <stdint.h>
#include <string.h>

#include "wire/pack.h"

struct draft {
    const struct wire_msg *of;
    msgpack_object_map header, inside; /* without "tensors"; the map `in` */
    msgpack_object_kv keys[32], more[8];
    size_t n;
    struct wire_tensor tensor[WIRE_TENSORS_MAX];
};

static inline int
draft_is(const msgpack_object_kv *kv, const char *key)
{
    const msgpack_object_str *name = &kv->key.via.str;

    return name->size == strlen(key) && !memcmp(name->ptr, key, name->size);
}

/* msg must last as long as the draft. */
static inline void
draft_start(struct draft *d, const struct wire_msg *msg)
{
    const msgpack_object_map *map = &msg->header.data.via.map;

    *d = (struct draft){.of = msg, .n = wire_msg_tensors(msg)};
    d->header.ptr = d->keys;
    d->inside.ptr = d->more;
    for (size_t i = 0; i < map->size; i++)
        if (!draft_is(&map->ptr[i], "tensors"))
            d->keys[d->header.size++] = map->ptr[i];
    for (size_t i = 0; i < d->n; i++)
        d->tensor[i] = *wire_msg_tensor(msg, i);
}

/* The header, or the map in it under the key `in`. */
static inline msgpack_object_map *
draft_map(struct draft *d, const char *in)
{
    for (size_t i = 0; in && i < d->header.size; i++) {
        msgpack_object_map *map = &d->keys[i].val.via.map;

        if (!draft_is(&d->keys[i], in))
            continue;
        REQUIRE(map->size < sizeof d->more / sizeof *d->more);
        if (map->ptr != d->more)
            memcpy(d->more, map->ptr, map->size * sizeof *map->ptr);
        map->ptr = d->more;
        return map;
    }
    return &d->header;
}

static inline void
draft_remove(struct draft *d, const char *in, const char *key)
{
    msgpack_object_map *map = draft_map(d, in);
    size_t i = 0;

    while (!draft_is(&map->ptr[i], key))
        i++;
    map->ptr[i] = map->ptr[--map->size];
}

static inline msgpack_object
draft_text(const char *text)
{
    msgpack_object o = {.type = MSGPACK_OBJECT_STR};

    o.via.str.ptr = text;
    o.via.str.size = (uint32_t)strlen(text);
    return o;
}

static inline msgpack_object
draft_whole(int64_t value)
{
    msgpack_object o = {.type = value < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER
                                          : MSGPACK_OBJECT_POSITIVE_INTEGER};

    o.via.i64 = value;
    return o;
}

static inline msgpack_object
draft_real(double value)
{
    msgpack_object o = {.type = MSGPACK_OBJECT_FLOAT64};

    o.via.f64 = value;
    return o;
}

static inline msgpack_object
draft_list(uint32_t n, msgpack_object *elements)
{
    msgpack_object o = {.type = MSGPACK_OBJECT_ARRAY};

    o.via.array.ptr = elements;
    o.via.array.size = n;
    return o;
}

/* Adds a key, whether it exists or not. */
static inline void
draft_add(struct draft *d, const char *in, const char *key,
          msgpack_object value)
{
    msgpack_object_map *map = draft_map(d, in);

    map->ptr[map->size++] = (msgpack_object_kv){draft_text(key), value};
    REQUIRE(map->size <= sizeof d->keys / sizeof *d->keys);
}

static inline void
draft_set(struct draft *d, const char *in, const char *key,
          msgpack_object value)
{
    draft_remove(d, in, key);
    draft_add(d, in, key, value);
}

/* The tensor of that name, NULL when there is none. */
static inline struct wire_tensor *
draft_tensor(struct draft *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->tensor[i].name, name))
            return &d->tensor[i];
    return NULL;
}

static inline void
draft_header(const struct draft *d, msgpack_sbuffer *to)
{
    msgpack_packer p;

    msgpack_packer_init(&p, to, msgpack_sbuffer_write);
    msgpack_pack_map(&p, d->header.size + !!d->n);
    for (size_t i = 0; i < d->header.size; i++) {
        msgpack_pack_object(&p, d->header.ptr[i].key);
        msgpack_pack_object(&p, d->header.ptr[i].val);
    }
    if (!d->n)
        return;
    msgpack_pack_object(&p, draft_text("tensors"));
    msgpack_pack_array(&p, d->n);
    for (size_t i = 0; i < d->n; i++) {
        const struct wire_tensor *t = &d->tensor[i];

        msgpack_pack_array(&p, 3);
        msgpack_pack_object(&p, draft_text(t->name));
        msgpack_pack_object(&p, draft_text(dtype_about(t->dtype)->wire));
        msgpack_pack_array(&p, t->rank);
        for (size_t k = 0; k < t->rank; k++)
            msgpack_pack_uint64(&p, t->shape[k]);
    }
}

/* The message, or NULL with a sentence when it is invalid. */
static inline struct wire_msg *
draft_send(const struct draft *d, struct err *err)
{
    struct wire_part part[WIRE_PARTS_MAX] = {wire_msg_part(d->of, 0)};
    msgpack_sbuffer header;
    struct wire_msg *msg;

    msgpack_sbuffer_init(&header);
    draft_header(d, &header);
    part[1] = (struct wire_part){header.data, header.size};
    for (size_t i = 0; i < d->n; i++) {
        const struct wire_tensor *t = &d->tensor[i];
        size_t bytes = dtype_about(t->dtype)->bytes;

        for (size_t k = 0; k < t->rank; k++)
            bytes *= t->shape[k];
        part[2 + i] = (struct wire_part){t->data, bytes};
    }
    msg = wire_msg_from(2 + d->n, part, err);
    msgpack_sbuffer_destroy(&header);
    return msg;
}

/* A message of the same bytes, as received; frees msg. */
static inline struct wire_msg *
draft_again(struct wire_msg *msg)
{
    struct draft d;
    struct wire_msg *copy;
    struct err err;

    draft_start(&d, msg);
    copy = draft_send(&d, &err);
    REQUIRE(copy);
    wire_msg_free(msg);
    return copy;
}
