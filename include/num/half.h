#pragma once

#include <stddef.h>

/*
 * Rows of numbers that are f32 or, with `bf16`, bfloat16: the upper half of an
 * f32, rounded to nearest, ties to even.  Layers may pass values in bfloat16 to
 * save half of the memory; every kernel computes in f32 and rounds its results
 * once.  Nothing is allocated; calls on different arrays may run at the same
 * time.
 */

/* num_half_bytes() returns the bytes of n numbers. */
static inline size_t
num_half_bytes(size_t n, int bf16)
{
    return n * (bf16 ? 2 : 4);
}

/* num_half_at() returns a pointer to number i of x. */
static inline void *
num_half_at(const void *x, size_t i, int bf16)
{
    return (char *)x + num_half_bytes(i, bf16);
}

/* num_half_get() converts n numbers to f32, num_half_put() converts them back.
 *   plain [n];  x [n] */
void num_half_get(size_t n, int bf16, const void *x, float *plain);
void num_half_put(size_t n, int bf16, const float *plain, void *x);

/* num_half_axpy() adds alpha x to y, in f32.
 *   x [n];  y [n] f32 */
void num_half_axpy(size_t n, int bf16, float alpha, const void *x, float *y);
