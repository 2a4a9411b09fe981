#pragma once

#include <stddef.h>

/* NUM_BY_TYPE() calls an inline function with bf16, 0 or 1, as its last
 * argument.  It is a constant there, so that the compiler makes a loop for each
 * type. */
#define NUM_BY_TYPE(bf16, function, ...) \
    ((bf16) ? function(__VA_ARGS__, 1) : function(__VA_ARGS__, 0))

/* num_least() returns the smaller of two numbers. */
static inline size_t
num_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* num_divide_up() returns n / each, rounded up; num_round_up() the least
 * multiple of `each` that is n or more. */
static inline size_t
num_divide_up(size_t n, size_t each)
{
    return (n + each - 1) / each;
}

static inline size_t
num_round_up(size_t n, size_t each)
{
    return num_divide_up(n, each) * each;
}

/* num_align() rounds bytes of scratch up to lines of a cache; num_take() adds
 * them to *used, and returns their address, or NULL without scratch. */
static inline size_t
num_align(size_t bytes)
{
    return num_round_up(bytes, 64);
}

static inline void *
num_take(size_t *used, void *scratch, size_t bytes)
{
    const size_t at = *used;

    *used += num_align(bytes);
    return scratch ? (char *)scratch + at : NULL;
}
