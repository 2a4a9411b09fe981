#ifndef NUM_WHOLE_H
#define NUM_WHOLE_H

#include <stddef.h>

/* num_least() returns the smaller of two numbers. */
static inline size_t
num_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* num_divide_up() returns n / each, rounded up. */
static inline size_t
num_divide_up(size_t n, size_t each)
{
    return (n + each - 1) / each;
}

#endif
