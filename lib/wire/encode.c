#include <math.h>

#include "wire/codec.h"
#include "wire/events.h"

#include "codec_impl.h"

static struct wire_tensor
tensor_of(const struct wire_message *m, const struct wire_field *f,
          const void *x)
{
    struct wire_tensor t = {.dtype = f->dtype, .count = 1};

    t.data = pointer_at(x, f->at);
    if (!t.data && f->half) {
        t.dtype = DTYPE_F2;
        t.data = pointer_at(x, f->half);
    }
    for (const char *c = f->shape; *c; c++) {
        t.shape[t.rank] = is_digit(*c) ? (size_t)(*c - '0')
                                       : count_at(x, wire_size_find(m, *c)->at);
        t.count *= t.shape[t.rank++];
    }
    return t;
}

/* 1 when the field has a value to be sent. */
static int
is_sent(const struct wire_message *m, const struct wire_field *f, const void *x)
{
    if (f->with && !is_sent(m, wire_field_find(m, f->with), x))
        return 0;
    if (!f->optional)
        return 1;
    switch (f->type) {
    case WIRE_FLAG:
        return *(const int *)field_at(x, f->at) != 0;
    case WIRE_TEXT:
        return *(const char *)field_at(x, f->at) != '\0';
    case WIRE_SHARE:
        return ((const int64_t *)field_at(x, f->at))[1] != 0;
    case WIRE_VALUES:
    case WIRE_COUPLES:
    case WIRE_TABLES:
        return count_at(x, f->count) != 0;
    case WIRE_TENSOR:
    case WIRE_IDS:
        return pointer_at(x, f->at) && tensor_of(m, f, x).count;
    default:
        return field_number(f, x) != f->missing;
    }
}

static void
put_tensor(struct wire_writer *w, const struct wire_message *m,
           const struct wire_field *f, const void *x)
{
    const struct wire_tensor t = tensor_of(m, f, x);

    REQUIRE(t.data && t.count);
    wire_write_tensor(w, f->name, t.dtype, t.data, t.rank, t.shape);
}

static void
put_map(struct wire_writer *w, const char *key, size_t n)
{
    wire_write_key(w, key);
    msgpack_pack_map(&w->packer, n);
    w->keys -= n; // wire_write_key() counts the keys in it, too
}

static void
put_real(struct wire_writer *w, const char *key, double value)
{
    REQUIRE(isfinite(value));
    wire_write_key(w, key);
    msgpack_pack_double(&w->packer, value);
}

static void
put_values(struct wire_writer *w, const struct wire_field *f, const void *x)
{
    const struct value *value = field_at(x, f->at);
    const size_t n = count_at(x, f->count);

    REQUIRE(n <= (size_t)f->greatest);
    put_map(w, f->name, n);
    for (size_t i = 0; i < n; i++)
        put_real(w, value[i].name, value[i].value);
}

static void
put_two(struct wire_writer *w, const int64_t two[2])
{
    msgpack_pack_array(&w->packer, 2);
    msgpack_pack_int64(&w->packer, two[0]);
    msgpack_pack_int64(&w->packer, two[1]);
}

static void
put_couples(struct wire_writer *w, const struct wire_field *f, const void *x)
{
    const int64_t *couple = pointer_at(x, f->at);
    const size_t n = count_at(x, f->count);

    REQUIRE(n <= (size_t)f->greatest);
    wire_write_key(w, f->name);
    msgpack_pack_array(&w->packer, n);
    for (size_t i = 0; i < n; i++)
        put_two(w, couple + 2 * i);
}

static void
put_field(struct wire_writer *w, const struct wire_message *m,
          const struct wire_field *f, const void *x)
{
    switch (f->type) {
    case WIRE_WHOLE:
    case WIRE_COUNT:
        wire_write_key(w, f->name);
        msgpack_pack_int64(&w->packer, field_number(f, x));
        break;
    case WIRE_REAL:
        put_real(w, f->name, *(const double *)field_at(x, f->at));
        break;
    case WIRE_FLAG:
        wire_write_key(w, f->name);
        msgpack_pack_true(&w->packer);
        break;
    case WIRE_TEXT:
        wire_write_key(w, f->name);
        wire_write_text(w, field_at(x, f->at));
        break;
    case WIRE_MAP:
        put_map(w, f->name, f->members);
        break;
    case WIRE_SHARE:
        wire_write_key(w, f->name);
        put_two(w, field_at(x, f->at));
        break;
    case WIRE_VALUES:
        put_values(w, f, x);
        break;
    case WIRE_COUPLES:
        put_couples(w, f, x);
        break;
    case WIRE_TENSOR:
    case WIRE_IDS:
        put_tensor(w, m, f, x);
        break;
    case WIRE_TABLES:
        wire_tables_put(w, f->name, count_at(x, f->count),
                        pointer_at(x, f->at));
    }
}

struct wire_msg *
wire_encode(enum wire_kind kind, const void *from)
{
    const struct wire_message *m = &wire_messages[kind];
    const struct wire_field *f;
    struct wire_writer w;

    wire_write_start(&w, kind);
    for (f = m->fields; f->name; f++)
        if (is_sent(m, f, from))
            put_field(&w, m, f, from);
    return wire_write_end(&w);
}
