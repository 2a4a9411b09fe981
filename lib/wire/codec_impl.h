#pragma once

#include <string.h>

#include "util/weights.h"

#include "message.h"

/* The state of decoding a message by the fields of its kind.  Errors are set by
 * wire_read_fail(). */
struct wire_decoder {
    struct wire_reader r;
    const struct wire_message *m;
    void *x;
    int64_t size;     /* of our data set; 0: not known */
    unsigned settled; /* bit i: m->sizes[i] is known */
};

/* Tables in a message: a list [[name, rows, width] ...] in the header, and for
 * each table with rows in this message the tensors NAME.row, u1 [k,width], and
 * NAME.at, i8 [k], when rows have indices. */
static inline const char *
tensor_name(char to[WIRE_NAME_MAX], const struct table_rows *table,
            const char *what)
{
    snprintf(to, WIRE_NAME_MAX, "%.59s.%s", table->name, what);
    return to;
}

/* Members of a struct, by their offset. */
static inline void *
field_at(const void *x, size_t at)
{
    return (char *)x + at;
}

static inline int64_t
whole_at(const void *x, size_t at)
{
    return *(const int64_t *)field_at(x, at);
}

static inline size_t
count_at(const void *x, size_t at)
{
    return *(const size_t *)field_at(x, at);
}

/* Reads a pointer of any type. */
static inline const void *
pointer_at(const void *x, size_t at)
{
    const void *pointer;

    memcpy(&pointer, field_at(x, at), sizeof pointer);
    return pointer;
}

static inline void
set_pointer(void *x, size_t at, const void *pointer)
{
    memcpy(field_at(x, at), &pointer, sizeof pointer);
}

static inline int64_t
field_number(const struct wire_field *f, const void *x)
{
    return f->type == WIRE_COUNT ? (int64_t)count_at(x, f->at)
                                 : whole_at(x, f->at);
}

static inline void
set_number(const struct wire_field *f, void *x, int64_t value)
{
    if (f->type == WIRE_COUNT)
        *(size_t *)field_at(x, f->at) = (size_t)value;
    else
        *(int64_t *)field_at(x, f->at) = value;
}

/* For a character of a shape. */
static inline int
is_digit(char c)
{
    return c <= '9';
}
