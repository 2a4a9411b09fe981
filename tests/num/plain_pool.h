#pragma once

#include <stdint.h>
#include <string.h>

#include "num/pool.h"

/* What num/pool.h says, in loops, for plain f32 maps. */

/* The place in x of the first of the largest in window `at` of y. */
static inline size_t
find_largest(const struct num_pool_spec *spec, const float *x, size_t at)
{
    struct num_map out = num_pool_out(spec);
    size_t q = at % out.w, p = at / out.w % out.h, plane = at / out.w / out.h;
    size_t best = SIZE_MAX;

    for (size_t r = 0; r < spec->kernel; r++)
        for (size_t s = 0; s < spec->kernel; s++) {
            size_t row = p * spec->stride + r, col = q * spec->stride + s;
            size_t here;

            if (row < spec->pad || row >= spec->in.h + spec->pad ||
                col < spec->pad || col >= spec->in.w + spec->pad)
                continue;
            here = (plane * spec->in.h + row - spec->pad) * spec->in.w + col -
                   spec->pad;
            if (best == SIZE_MAX || x[here] > x[best])
                best = here;
        }
    return best;
}

static inline void
plain_pool_forward(const struct num_pool_spec *spec, const float *x, float *y)
{
    struct num_map out = num_pool_out(spec);

    for (size_t at = 0; at < num_map_size(&out); at++)
        y[at] = x[find_largest(spec, x, at)];
}

static inline void
plain_pool_backward(const struct num_pool_spec *spec, const float *x,
                    const float *dy, float *dx)
{
    struct num_map out = num_pool_out(spec);

    memset(dx, 0, num_map_size(&spec->in) * sizeof *dx);
    for (size_t at = 0; at < num_map_size(&out); at++)
        dx[find_largest(spec, x, at)] += dy[at];
}
