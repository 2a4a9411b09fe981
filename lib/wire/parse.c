#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#include "message.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the tensors of our messages are used without a change of byte order"
#endif

/* Foreign text for an error message: printable, cut at 40 bytes. */
static const char *
make_printable(char to[41], const char *text, size_t n)
{
    size_t i = 0;

    for (; i < n && i < 40; i++)
        to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    to[i] = 0;
    return to;
}

/* "foil3.batch": magic, version, kind. */
static int
check_kind(struct wire_msg *msg, struct wire_subject *subject, struct err *err)
{
    const struct wire_part part = wire_msg_part(msg, 0);
    const char *text = part.data;
    int64_t version = 0;
    size_t n = 4;
    char clean[41];

    if (part.len < 5 || memcmp(text, "foil", 4))
        return err_set(err, "not a message of foil: '%s'",
                       make_printable(clean, text, part.len));
    for (; n < part.len && n < 8 && text[n] >= '0' && text[n] <= '9'; n++)
        version = version * 10 + (text[n] - '0');
    n = n < part.len && text[n] == '.' ? n + 1 : part.len; // the kind follows
    snprintf(subject->kind, sizeof subject->kind, "%.31s",
             n < part.len ? make_printable(clean, text + n, part.len - n)
                          : "?");
    if (version != WIRE_VERSION && version != WIRE_VERSION_OLD) {
        subject->version = version;
        return err_set(err, "peer speaks foil%jd, this is foil%d",
                       (intmax_t)version, WIRE_VERSION);
    }
    msg->version = (int)version;
    msg->kind = wire_kind_find(text + n, part.len - n, msg->version);
    if (msg->kind == WIRE_KINDS)
        return err_set(err, "no such kind of message: '%s'",
                       make_printable(clean, text, part.len));
    msg->name = wire_messages[msg->kind].name;
    return 0;
}

static int
check_header(struct wire_msg *msg, struct err *err)
{
    const struct wire_part part = wire_msg_part(msg, 1);
    size_t used = 0;

    if (wire_guard(part.data, part.len, err))
        return -1;
    if (msgpack_unpack_next(&msg->header, part.data, part.len, &used) !=
            MSGPACK_UNPACK_SUCCESS ||
        used != part.len)
        return err_set(err, "header is not msgpack");
    if (msg->version == WIRE_VERSION_OLD)
        wire_rename(msg->kind, 0, &msg->header.data);
    return 0;
}

/* An extension changes what a message means: one that we lack is an error. */
static int
check_requires(const struct wire_msg *msg, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    const msgpack_object_array *list = wire_read_array(&r, "requires");
    const msgpack_object *first = list && list->size ? list->ptr : NULL;
    const size_t len = strlen(WIRE_GROUPS);
    char clean[41];

    if (first && (list->size > 1 || first->type != MSGPACK_OBJECT_STR ||
                  first->via.str.size != len ||
                  memcmp(first->via.str.ptr, WIRE_GROUPS, len)))
        wire_read_fail(
            &r, "requires '%s', which this version does not support",
            first->type == MSGPACK_OBJECT_STR
                ? make_printable(clean, first->via.str.ptr, first->via.str.size)
                : "?");
    return r.rc;
}

/* [name, dtype, [size ...]] */
static int
check_tensor(struct wire_tensor *t, const msgpack_object *o)
{
    const msgpack_object *field = o->via.array.ptr;
    const msgpack_object_array *shape;

    if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != 3 ||
        field[0].type != MSGPACK_OBJECT_STR ||
        field[1].type != MSGPACK_OBJECT_STR ||
        field[2].type != MSGPACK_OBJECT_ARRAY)
        return -1;
    if (field[0].via.str.size < 1 || field[0].via.str.size >= WIRE_NAME_MAX ||
        memchr(field[0].via.str.ptr, 0, field[0].via.str.size))
        return -1;
    memcpy(t->name, field[0].via.str.ptr, field[0].via.str.size);
    t->dtype = dtype_by_wire(field[1].via.str.ptr, field[1].via.str.size);
    shape = &field[2].via.array;
    if (t->dtype == DTYPES || shape->size > WIRE_RANK_MAX)
        return -1;
    t->rank = shape->size;
    t->count = 1;
    for (size_t i = 0; i < t->rank; i++) {
        int64_t size;

        if (wire_object_whole(&shape->ptr[i], 0, WIRE_SIZE_MAX, &size) ||
            (size && t->count > (size_t)WIRE_SIZE_MAX / (size_t)size))
            return -1;
        t->shape[i] = (size_t)size;
        t->count *= (size_t)size;
    }
    return 0;
}

/* The exponent of a finite number is not all ones. */
static int
all_finite(const struct wire_tensor *t)
{
    const uint16_t *two = t->data;
    const uint32_t *f4 = t->data;
    const uint64_t *f8 = t->data, e8 = (uint64_t)0x7ff << 52;
    int bad = 0;

    if (t->dtype == DTYPE_BF)
        for (size_t i = 0; i < t->count; i++)
            bad |= (two[i] & 0x7f80) == 0x7f80;
    if (t->dtype == DTYPE_F2)
        for (size_t i = 0; i < t->count; i++)
            bad |= (two[i] & 0x7c00) == 0x7c00;
    if (t->dtype == DTYPE_F4)
        for (size_t i = 0; i < t->count; i++)
            bad |= (f4[i] & 0x7f800000) == 0x7f800000;
    if (t->dtype == DTYPE_F8)
        for (size_t i = 0; i < t->count; i++)
            bad |= (f8[i] & e8) == e8;
    return !bad;
}

/* The bytes of tensor i, copied when they are not aligned. */
static int
check_data(struct wire_msg *msg, size_t i, int stranger, struct err *err)
{
    struct wire_tensor *t = &msg->tensor[i];
    const struct wire_part part = wire_msg_part(msg, 2 + i);
    const size_t bytes = dtype_about(t->dtype)->bytes;

    if (part.len % bytes || part.len / bytes != t->count)
        return err_set(err, "tensor '%s' has %zu bytes, want %zu x %zu",
                       t->name, part.len, t->count, bytes);
    t->data = part.data;
    if ((uintptr_t)part.data % bytes) {
        msg->aligned[i] = mem_aligned(part.len, 1);
        t->data = memcpy(msg->aligned[i], part.data, part.len);
    }
    if (stranger && !all_finite(t))
        return err_set(err, "tensor '%s' has a number that is not finite",
                       t->name);
    return 0;
}

static int
check_tensors(struct wire_msg *msg, int stranger, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    const msgpack_object_array *list = wire_read_array(&r, "tensors");

    if (r.rc)
        return -1;
    msg->n_tensors = list ? list->size : 0;
    if (msg->n_tensors != msg->n_parts - 2) {
        msg->n_tensors = 0;
        return err_set(err, "%zu parts after the header, 'tensors' says %u",
                       msg->n_parts - 2, list ? list->size : 0);
    }
    msg->tensor = mem_array(msg->n_tensors, sizeof *msg->tensor);
    msg->aligned = mem_array(msg->n_tensors, sizeof *msg->aligned);
    for (size_t i = 0; i < msg->n_tensors; i++) {
        if (check_tensor(&msg->tensor[i], &list->ptr[i]))
            return err_set(err, "entry %zu of 'tensors' is malformed", i);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(msg->tensor[i].name, msg->tensor[j].name))
                return err_set(err, "two tensors are named '%s'",
                               msg->tensor[i].name);
        if (check_data(msg, i, stranger, err))
            return -1;
    }
    return 0;
}

struct wire_msg *
wire_msg_parse(size_t n, zmq_msg_t *parts, int stranger,
               struct wire_subject *subject, struct err *err)
{
    struct wire_msg *msg = mem_array(1, sizeof *msg);
    const char *role;

    *subject = (struct wire_subject){"?", {-1, 0, 0}, 0};
    msg->holders = 1;
    msg->n_parts = n;
    msg->parts = mem_array(n, sizeof *msg->parts);
    msgpack_unpacked_init(&msg->header);
    for (size_t i = 0; i < n; i++) {
        zmq_msg_init(&msg->parts[i]);
        zmq_msg_move(&msg->parts[i], &parts[i]);
        zmq_msg_close(&parts[i]);
    }
    if (n < 2 || n > WIRE_PARTS_MAX) {
        err_set(err, "message of %zu parts, want 2 .. %d", n, WIRE_PARTS_MAX);
        goto fail;
    }
    if (check_kind(msg, subject, err) || check_header(msg, err))
        goto fail;
    wire_subject_of(subject, msg);
    if (check_requires(msg, err) || check_tensors(msg, stranger, err))
        goto fail;
    role = zmq_msg_gets(&msg->parts[0], "User-Id");
    if (role)
        snprintf(msg->role, sizeof msg->role, "%s", role);
    return msg;

fail:
    wire_msg_free(msg);
    return NULL;
}

void
wire_subject_of(struct wire_subject *subject, const struct wire_msg *msg)
{
    struct err ignored;
    struct wire_reader r = wire_read_start(msg, &ignored);
    struct wire_place *at = &subject->at;

    *subject = (struct wire_subject){"", {-1, 0, 0}, 0};
    snprintf(subject->kind, sizeof subject->kind, "%s", msg->name);
    at->session = wire_read_whole(&r, "session", 0, INT64_MAX);
    at->epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    at->step = wire_read_whole(&r, "step", 0, WIRE_STEP_MAX - 1);
    if (r.rc)
        *at = (struct wire_place){-1, 0, 0};
}

struct wire_msg *
wire_msg_from(size_t n, const struct wire_part *parts, struct err *err)
{
    zmq_msg_t copy[WIRE_PARTS_MAX];
    struct wire_subject subject;

    if (n < 2 || n > WIRE_PARTS_MAX) {
        err_set(err, "message of %zu parts, want 2 .. %d", n, WIRE_PARTS_MAX);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        wire_part_copy(&copy[i], parts[i].data, parts[i].len);
    return wire_msg_parse(n, copy, 1, &subject, err);
}
