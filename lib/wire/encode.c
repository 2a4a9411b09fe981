#include <math.h>
#include <string.h>

#include "wire/codec.h"
#include "wire/events.h"

#include "codec_impl.h"

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
    case WIRE_REAL:
        return *(const double *)field_at(x, f->at) != (double)f->missing;
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

/* [[name, rows, width] ...], and the tensors of tables with rows. */
static void
put_tables(struct wire_writer *w, const struct wire_field *f, const void *x)
{
    const struct table_rows *table = pointer_at(x, f->at);
    const size_t n = count_at(x, f->count);
    char name[WIRE_NAME_MAX];

    wire_write_key(w, f->name);
    msgpack_pack_array(&w->packer, n);
    for (size_t i = 0; i < n; i++) {
        msgpack_pack_array(&w->packer, 3);
        wire_write_text(w, table[i].name);
        msgpack_pack_uint64(&w->packer, table[i].rows);
        msgpack_pack_uint64(&w->packer, table[i].width);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t shape[] = {table[i].n, table[i].width};

        if (!table[i].n)
            continue;
        if (table[i].at)
            wire_write_tensor(w, tensor_name(name, &table[i], "at"), DTYPE_I8,
                              table[i].at, 1, shape);
        wire_write_tensor(w, tensor_name(name, &table[i], "row"), DTYPE_U1,
                          table[i].row, 2, shape);
    }
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
        put_tables(w, f, x);
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
        if (is_sent(m, f, from)) {
            put_field(&w, m, f, from);
            if (f->extension) {
                wire_write_key(&w, "requires");
                msgpack_pack_array(&w.packer, 1);
                wire_write_text(&w, f->extension);
            }
        }
    return wire_write_end(&w);
}
