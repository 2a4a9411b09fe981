#pragma once

#include <stddef.h>

/*
 * A dense layer on n rows, with bias and residual,
 *
 *     y = x W' + b + r
 *
 * Weights, biases and their gradients are f32.  Rows are f32, with the products
 * of num/gemm.h, or bfloat16 (num/half.h).  Products of bfloat16 are summed in
 * f32; W is rounded for them, and y and dx once at their end.  The products use
 * the first of these that the processor has: AMX tiles, at least ten times as
 * fast as f32; AVX512-BF16, twice as fast; f32 vectors.  Each adds in another
 * order, so bits differ.
 *
 * Each function takes one struct; its comment lists the members that it uses.
 * For bfloat16, results do not depend on the number of threads: the sum over k
 * of y and dx, and that over rows of dw, are in a fixed order.  Against sums in
 * double the largest error over the rms of the result is below 2e-6 for f32;
 * for bfloat16 below 5e-6 for dw and db, and 2e-6 plus the last rounding for y
 * and dx (tests/num/test_dense.c).  O(n in out) time; calls on different arrays
 * may run at the same time.
 */
struct num_dense {
    size_t n, in, out;
    int transposed;     /* 1: w is W' [in,out]; 0: w is W [out,in] */
    int bf16;           /* x, r, y, dy and dx are bfloat16 */
    const float *w, *b; /* b [out], or NULL */
    const void *x;      /* [n,in] */
    const void *r;      /* [n,out], or NULL; may be y */
    void *y;            /* [n,out] */
    const void *dy;     /* [n,out]: dL/dy, which is also dr */
    void *dx;           /* [n,in] */
    float *dw, *db;     /* as w and b; db may be NULL */
    int add;            /* 1: adds to dw and db; 0: overwrites them */
    void *scratch;      /* [num_dense_scratch()] bytes */
};

/* num_dense_scratch() returns the bytes of scratch for all functions, from n,
 * in, out and bf16; num_dense_name() returns the name of the kernel of the
 * products. */
size_t num_dense_scratch(const struct num_dense *a);
const char *num_dense_name(int bf16);

/* num_dense_forward() writes y, from x, w, b and r. */
void num_dense_forward(const struct num_dense *a);

/* num_dense_back_params() writes dw = dy' x and db = sum dy over rows, from x
 * and dy; num_dense_back_data() dx = dy W, from dy and w. */
void num_dense_back_params(const struct num_dense *a);
void num_dense_back_data(const struct num_dense *a);
