#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/mem.h"

/* Whether x [n] holds each of 0 .. n-1 once; any other number is refused. */
static inline int
is_permutation(size_t n, const int64_t *x)
{
    char *seen = mem_array(n, 1);
    size_t i = 0;

    while (i < n && x[i] >= 0 && (size_t)x[i] < n && !seen[x[i]]++)
        i++;
    free(seen);
    return i == n;
}
