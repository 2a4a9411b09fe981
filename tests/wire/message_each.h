#pragma once

/*
 * For tests of every message, by its table: the message under test, the result
 * of drafts of it, and checks that count.  No field is named here, so that a
 * new message is tested without a change.
 */
#include <stdlib.h>

#include "t.h"
#include "util/weights.h"
#include "wire/codec.h"

#include "draft.h"
#include "example.h"

static enum wire_kind kind;
static const struct wire_message *message;
static int64_t size; /* of our data set, for the decoder */

/* As from an untrusted peer. */
static inline struct wire_msg *
example(int full)
{
    example_start();
    return draft_again(wire_encode(kind, example_make(kind, full)));
}

static inline int
same_bytes(const struct wire_msg *a, const struct wire_msg *b)
{
    int same = wire_msg_parts(a) == wire_msg_parts(b);

    for (size_t i = 0; same && i < wire_msg_parts(a); i++) {
        const struct wire_part p = wire_msg_part(a, i), q = wire_msg_part(b, i);

        same = p.len == q.len && (!p.len || !memcmp(p.data, q.data, p.len));
    }
    return same;
}

static inline int
is_empty(const void *x)
{
    for (size_t i = 0; i < message->bytes; i++)
        if (((const char *)x)[i])
            return 0;
    return 1;
}

/* Decodes and releases: 0, or -1 with a sentence. */
static inline int
decode(const struct wire_msg *msg, struct err *err)
{
    static _Alignas(16) char x[1 << 15];
    int rc;

    REQUIRE(message->bytes <= sizeof x);
    rc = wire_decode(kind, x, msg, size, err);
    if (!rc && message->held)
        wire_release(kind, x);
    return rc;
}

/* Decodes a draft: NULL when it is accepted, else why not. */
static inline const char *
verdict(const struct draft *d)
{
    static struct err err;
    struct wire_msg *msg = draft_send(d, &err);
    const int rc = msg ? decode(msg, &err) : -1;

    wire_msg_free(msg);
    return rc ? err.msg : NULL;
}

/* Each check counts what was wrong, and prints it. */
static int bad;

static inline void
expect(int good, const char *why, const char *what, const char *field)
{
    if (good)
        return;
    bad++;
    printf("# %s: %s: %s\n", field, what, why ? why : "taken");
}

static inline void
refused(const struct draft *d, const char *part, const char *what,
        const char *field)
{
    const char *why = verdict(d);

    expect(why && strstr(why, part), why, what, field);
}

static inline void
taken(const struct draft *d, const char *what, const char *field)
{
    const char *why = verdict(d);

    expect(!why, why, what, field);
}

/* Expect that it is accepted, or refused for another reason. */
static inline void
within(const struct draft *d, const char *part, const char *what,
       const char *field)
{
    const char *why = verdict(d);

    expect(!why || !strstr(why, part), why, what, field);
}

static inline void
all_good(const char *what)
{
    T(!bad, "%s: %s", message->name, what);
    bad = 0;
}

/* The key of the map that a field is in; NULL: the header. */
static inline const char *
map_of(const struct wire_field *field)
{
    const struct wire_field *f;

    for (f = message->fields; f->name; f++)
        if (f->type == WIRE_MAP && field > f && field <= f + f->members)
            return f->name;
    return NULL;
}

static inline int
is_key(const struct wire_field *f)
{
    return !f->shape;
}

/* 1 when a tensor requires that field. */
static inline int
is_leaned_on(const struct wire_field *field)
{
    const struct wire_field *f;

    for (f = message->fields; f->name; f++)
        if (f->shape && f->with && !strcmp(f->with, field->name))
            return 1;
    return 0;
}

static inline int
is_number(const struct wire_field *f)
{
    return f->type == WIRE_WHOLE || f->type == WIRE_COUNT;
}

static inline void
set(struct draft *d, const struct wire_msg *msg, const struct wire_field *f,
    msgpack_object value)
{
    draft_start(d, msg);
    draft_set(d, map_of(f), f->name, value);
}

/* Each kind in turn, with an example of it that has all its fields. */
static inline void
each_kind(void (*look)(const struct wire_msg *))
{
    for (kind = 0; kind < WIRE_KINDS; kind++) {
        struct wire_msg *msg;

        message = &wire_messages[kind];
        msg = example(1);
        look(msg);
        wire_msg_free(msg);
    }
}
