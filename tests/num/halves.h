#pragma once

#include <stdlib.h>
#include <string.h>

#include "num/half.h"
#include "util/mem.h"

/* Rounds x to bfloat16 in place, and returns the numbers as bfloat16, which the
 * caller frees. */
static inline void *
halves_of(size_t n, float *x)
{
    void *halves = mem_array(n, 2);

    num_half_put(n, 1, x, halves);
    num_half_get(n, 1, halves, x);
    return halves;
}

/* Returns 1 if bfloat16 are numbers of f32, rounded. */
static inline int
halves_equal(size_t n, const void *got, const float *want)
{
    void *halves = mem_array(n, 2);
    int same;

    num_half_put(n, 1, want, halves);
    same = !memcmp(halves, got, 2 * n);
    free(halves);
    return same;
}
