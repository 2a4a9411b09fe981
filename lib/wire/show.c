#include <stdlib.h>
#include <string.h>

#include "util/digest.h"
#include "util/dtype.h"
#include "wire/show.h"

#include "message.h"

/* The text may be any bytes: a placeholder is shown for invalid UTF-8. */
static json_t *
show_text(const char *bytes, size_t n)
{
    json_t *string = json_stringn(bytes, n);

    return string ? string : json_string("(not UTF-8)");
}

static json_t *show_value(const msgpack_object *o);

static json_t *
show_map(const msgpack_object_map *from, const char *without)
{
    json_t *object = json_object();

    for (size_t i = 0; i < from->size; i++) {
        const msgpack_object_str *key = &from->ptr[i].key.via.str;
        json_t *name = show_text(key->ptr, key->size);

        if (!without || strcmp(json_string_value(name), without))
            json_object_set_new(object, json_string_value(name),
                                show_value(&from->ptr[i].val));
        json_decref(name);
    }
    return object;
}

/* Recursion is at most WIRE_DEPTH_MAX deep. */
static json_t *
show_value(const msgpack_object *o)
{
    json_t *array;

    switch (o->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        return json_boolean(o->via.boolean);
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return o->via.u64 <= INT64_MAX ? json_integer((json_int_t)o->via.u64)
                                       : json_real((double)o->via.u64);
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return json_integer(o->via.i64);
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        array = json_real(o->via.f64);
        return array ? array : json_null(); // not representable in JSON
    case MSGPACK_OBJECT_STR:
        return show_text(o->via.str.ptr, o->via.str.size);
    case MSGPACK_OBJECT_MAP:
        return show_map(&o->via.map, NULL);
    case MSGPACK_OBJECT_ARRAY:
        array = json_array();
        for (size_t i = 0; i < o->via.array.size; i++)
            json_array_append_new(array, show_value(&o->via.array.ptr[i]));
        return array;
    default:
        return json_null();
    }
}

static json_t *
tensor_number(const struct wire_tensor *t, size_t i)
{
    uint32_t bits;
    float x;

    switch (t->dtype) {
    case DTYPE_U1:
        return json_integer(((const uint8_t *)t->data)[i]);
    case DTYPE_I4:
        return json_integer(((const int32_t *)t->data)[i]);
    case DTYPE_I8:
        return json_integer(((const int64_t *)t->data)[i]);
    case DTYPE_F4:
        return json_real(((const float *)t->data)[i]);
    case DTYPE_F8:
        return json_real(((const double *)t->data)[i]);
    case DTYPE_F2:
        half_widen(1, (const uint16_t *)t->data + i, &x);
        return json_real(x);
    default: // bfloat16: the upper half of a float
        bits = (uint32_t)((const uint16_t *)t->data)[i] << 16;
        memcpy(&x, &bits, sizeof x);
        return json_real(x);
    }
}

/* The tensor with the lengths of the rows of t, or NULL. */
static const struct wire_tensor *
lengths_of(const struct wire_msg *msg, const struct wire_tensor *t)
{
    const struct wire_field *f = wire_messages[wire_msg_kind(msg)].fields;
    const struct wire_tensor *lengths;

    while (f->name && (!f->lengths || strcmp(f->name, t->name)))
        f++;
    lengths = f->name ? wire_msg_find(msg, f->lengths) : NULL;
    return lengths && t->rank == 2 && lengths->dtype == DTYPE_I4 &&
                   lengths->count == t->shape[0]
               ? lengths
               : NULL;
}

/* The n numbers from number `from` on. */
static json_t *
show_numbers(const struct wire_tensor *t, size_t from, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, tensor_number(t, from + i));
    return list;
}

/* How many elements of row i are valid. */
static size_t
row_length(const struct wire_tensor *t, const int32_t *length, size_t i)
{
    const int64_t most = (int64_t)t->shape[1];

    return (size_t)(length[i] < 0 ? 0 : length[i] < most ? length[i] : most);
}

/* Each row up to its length. */
static json_t *
show_rows(const struct wire_tensor *t, const int32_t *length)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->shape[0]; i++)
        json_array_append_new(
            list, show_numbers(t, i * t->shape[1], row_length(t, length, i)));
    return list;
}

/* The text of each row. */
static json_t *
show_words(const struct wire_tensor *t, const int32_t *length,
           const struct wire_token_text *words)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->shape[0]; i++) {
        char *line = words->text(words->vocabulary, row_length(t, length, i),
                                 (const int32_t *)t->data + i * t->shape[1]);

        json_array_append_new(list, line ? show_text(line, strlen(line))
                                         : json_null());
        free(line);
    }
    return list;
}

static json_t *
show_tensor(const struct wire_msg *msg, const struct wire_tensor *t, int full,
            const struct wire_token_text *words)
{
    const struct wire_tensor *lengths = lengths_of(msg, t);
    json_t *object, *shape = json_array();
    const struct digest digest =
        digest_bytes(t->data, t->count * dtype_about(t->dtype)->bytes);
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
    object = json_pack("{s:o, s:s, s:o}", "name",
                       show_text(t->name, strlen(t->name)), "dtype",
                       dtype_about(t->dtype)->wire, "shape", shape);
    if (full)
        json_object_set_new(object, "data",
                            lengths ? show_rows(t, lengths->data)
                                    : show_numbers(t, 0, t->count));
    else
        json_object_set_new(object, "digest",
                            json_string(digest_hex(digest, hex)));
    if (lengths && words && t->dtype == DTYPE_I4)
        json_object_set_new(object, "text",
                            show_words(t, lengths->data, words));
    return object;
}

json_t *
wire_show(const struct wire_msg *msg, int full,
          const struct wire_token_text *words)
{
    json_t *tensors = json_array();

    for (size_t i = 0; i < wire_msg_tensors(msg); i++)
        json_array_append_new(
            tensors, show_tensor(msg, wire_msg_tensor(msg, i), full, words));
    return json_pack(
        "{s:s, s:o, s:o}", "kind", wire_kind_name(wire_msg_kind(msg)), "header",
        show_map(&msg->header.data.via.map, "tensors"), "tensors", tensors);
}
