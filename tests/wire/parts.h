#ifndef TESTS_WIRE_PARTS_H
#define TESTS_WIRE_PARTS_H

/*
 * For tests of decoders: a message as a stranger would have sent it, with one
 * key of the header or one tensor changed.
 */
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "wire/pack.h"

/* Decodes and lets go again: 0 or -1. */
typedef int decode(struct wire_msg *msg, struct err *err);

/* The same bytes, come anew; msg is freed. */
__attribute__((unused)) static struct wire_msg *
again(struct wire_msg *msg)
{
    struct wire_part part[WIRE_PARTS_MAX];
    struct err err;
    size_t n = wire_msg_parts(msg);
    struct wire_msg *copy;

    for (size_t i = 0; i < n; i++)
        part[i] = wire_msg_part(msg, i);
    copy = wire_msg_from(n, part, &err);
    REQUIRE(copy);
    wire_msg_free(msg);
    return copy;
}

/* One value as msgpack: 12, -1, 1.5, inf, 'text', true, nil, [], {}. */
static void
pack_literal(msgpack_packer *packer, const char *text)
{
    char *end;
    long long whole = strtoll(text, &end, 10);

    if (*text && !*end)
        msgpack_pack_int64(packer, whole);
    else if (*text == '\'')
        msgpack_pack_str_with_body(packer, text + 1, strlen(text) - 2);
    else if (!strcmp(text, "true"))
        msgpack_pack_true(packer);
    else if (!strcmp(text, "nil"))
        msgpack_pack_nil(packer);
    else if (!strcmp(text, "[]"))
        msgpack_pack_array(packer, 0);
    else if (!strcmp(text, "{}"))
        msgpack_pack_map(packer, 0);
    else
        msgpack_pack_double(packer, strtod(text, &end));
}

/*
 * msg with header[key] = literal, or without it (NULL): what wire_msg_from()
 * says to that, and then the decoder: 0 or -1 with a sentence.
 */
static int
judged(decode *get, const struct wire_msg *msg, const char *key,
       const char *literal, struct err *err)
{
    const msgpack_object_map *map = &wire_msg_header(msg)->via.map;
    struct wire_part part[WIRE_PARTS_MAX];
    size_t n = wire_msg_parts(msg), keys = 0;
    msgpack_sbuffer body, whole;
    msgpack_packer packer;
    struct wire_msg *edited;
    int rc = -1;

    msgpack_sbuffer_init(&body);
    msgpack_sbuffer_init(&whole);
    msgpack_packer_init(&packer, &body, msgpack_sbuffer_write);
    for (size_t i = 0; i < map->size; i++) {
        const msgpack_object_str *name = &map->ptr[i].key.via.str;

        if (name->size == strlen(key) && !memcmp(name->ptr, key, name->size))
            continue;
        msgpack_pack_object(&packer, map->ptr[i].key);
        msgpack_pack_object(&packer, map->ptr[i].val);
        keys++;
    }
    if (literal) {
        msgpack_pack_str_with_body(&packer, key, strlen(key));
        pack_literal(&packer, literal);
        keys++;
    }
    msgpack_packer_init(&packer, &whole, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, keys);
    msgpack_sbuffer_write(&whole, body.data, body.size);
    for (size_t i = 0; i < n; i++)
        part[i] = wire_msg_part(msg, i);
    part[1] = (struct wire_part){whole.data, whole.size};
    edited = wire_msg_from(n, part, err);
    if (edited)
        rc = get(edited, err);
    wire_msg_free(edited);
    msgpack_sbuffer_destroy(&body);
    msgpack_sbuffer_destroy(&whole);
    return rc;
}

/* A table of such changes; `want` is 0 or -1. */
struct change {
    const char *key, *literal;
    int want;
};

__attribute__((unused)) static void
judge_all(decode *get, const struct wire_msg *msg, const struct change *change)
{
    for (; change->key; change++) {
        struct err err = {""};
        int rc = judged(get, msg, change->key, change->literal, &err);

        T(rc == change->want && (!rc || *err.msg), "%s = %s: %s", change->key,
          change->literal ? change->literal : "(missing)",
          rc ? err.msg : "taken");
    }
}

#endif
