#include <stdio.h>
#include <string.h>

#include "message.h"

/* The names of version 2 that differ in version 3.  Delete this file, and what
 * uses it, in 1.1. */
static const char *const old_kinds[WIRE_KINDS] = {
    [WIRE_WANT] = "next",           [WIRE_HEARTBEAT] = "beat",
    [WIRE_WEIGHTS_GET] = "pairs",   [WIRE_OK] = "state.ok",
    [WIRE_TOP_NEGATIVES] = "drawn",
};

static const struct rename {
    enum wire_kind kind;
    const char *old, *now; /* a key of the header, or the name of a tensor */
} renames[] = {
    {WIRE_HELLO, "making", "view_options"},
    {WIRE_HELLO, "part", "rank"},
    {WIRE_ERROR, "again", "rehello"},
    {WIRE_ERROR, "state", "need_state"},
    {WIRE_BATCH, "texts", "most_captions"},
    {WIRE_FEATURES, "next", "next_id"},
    {WIRE_WEIGHTS_GET, "texts", "most_captions"},
    {WIRE_STATE_PUT, "fresh", "empty"},
    {WIRE_TOP_NEGATIVES, "of_epoch", "view_epoch"},
};

static const char *
name_in(enum wire_kind kind, int version)
{
    return version == WIRE_VERSION_OLD && old_kinds[kind]
               ? old_kinds[kind]
               : wire_messages[kind].name;
}

enum wire_kind
wire_kind_find(const char *name, size_t n, int version)
{
    enum wire_kind kind = 0;

    while (kind < WIRE_KINDS && (strlen(name_in(kind, version)) != n ||
                                 memcmp(name_in(kind, version), name, n) != 0))
        kind++;
    return kind;
}

size_t
wire_topic(enum wire_kind kind, int version, char *topic)
{
    return (size_t)snprintf(topic, WIRE_TOPIC_MAX, "foil%d.%s", version,
                            kind < WIRE_KINDS ? name_in(kind, version) : "");
}

static void
rename_text(enum wire_kind kind, int to_old, msgpack_object *object)
{
    msgpack_object_str *text = &object->via.str;

    for (size_t i = 0; i < sizeof renames / sizeof *renames; i++) {
        const char *from = to_old ? renames[i].now : renames[i].old,
                   *to = to_old ? renames[i].old : renames[i].now;

        if (renames[i].kind != kind || text->size != strlen(from) ||
            memcmp(text->ptr, from, text->size) != 0)
            continue;
        text->ptr = to;
        text->size = (uint32_t)strlen(to);
        return;
    }
}

/* [[name, dtype, sizes] ...]; anything else is refused later. */
static void
rename_tensors(enum wire_kind kind, int to_old, const msgpack_object *list)
{
    for (size_t i = 0;
         list->type == MSGPACK_OBJECT_ARRAY && i < list->via.array.size; i++) {
        const msgpack_object *entry = &list->via.array.ptr[i];

        if (entry->type == MSGPACK_OBJECT_ARRAY && entry->via.array.size &&
            entry->via.array.ptr->type == MSGPACK_OBJECT_STR)
            rename_text(kind, to_old, entry->via.array.ptr);
    }
}

static int
is_key(const msgpack_object *object, const char *key)
{
    return object->via.str.size == strlen(key) &&
           !memcmp(object->via.str.ptr, key, object->via.str.size);
}

void
wire_rename(enum wire_kind kind, int to_old, msgpack_object *header)
{
    for (size_t i = 0; i < header->via.map.size; i++) {
        msgpack_object_kv *kv = &header->via.map.ptr[i];

        if (is_key(&kv->key, "tensors"))
            rename_tensors(kind, to_old, &kv->val);
        if (to_old && kind == WIRE_HELLO && is_key(&kv->key, "version"))
            kv->val.via.u64 = (uint64_t)to_old;
        rename_text(kind, to_old, &kv->key);
    }
}
