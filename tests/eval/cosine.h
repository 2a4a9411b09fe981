#pragma once

#include <math.h>
#include <stddef.h>

/* Computes the cosine of two rows naively in double; 0 if one is zero. */
static inline double
cosine(size_t d, const float *u, const float *v)
{
    double uv = 0, uu = 0, vv = 0;

    for (size_t k = 0; k < d; k++) {
        uv += (double)u[k] * v[k];
        uu += (double)u[k] * u[k];
        vv += (double)v[k] * v[k];
    }
    return uu * vv > 0 ? uv / sqrt(uu * vv) : 0;
}
