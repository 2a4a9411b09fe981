#ifndef WIRE_MEMBER_H
#define WIRE_MEMBER_H

#include <string.h>

#include "message.h"

/*
 * Members of a struct, by their offset.
 */
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

#endif
