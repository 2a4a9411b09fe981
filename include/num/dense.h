#ifndef NUM_DENSE_H
#define NUM_DENSE_H

#include <stddef.h>

/*
 * A dense layer on n rows, with what stands around it in a transformer: bias
 * and residual,
 *
 *     y = x W' + b + r
 *
 * Weights, biases and their gradients are f32.  The rows are f32, or bfloat16
 * (num/half.h), whose products are of bfloat16 and summed in f32: W is rounded
 * for them, and y and dx once at their end.  These are computed by the first of
 * these that the processor has: the tiles of AMX, at ten times the rate of f32
 * and more; AVX512-BF16, at twice the rate; vectors of f32.  Each adds in
 * another order, so bits differ.  Products of f32 are those of
 * lib/num/products.h, at .5 to .7 of the most that multiply-adds reach where
 * rows come from the third cache (Xeon with AVX-512, 1,576 rows of 192 to 768,
 * beside other work); a step with them is as fast as with oneDNN's or faster.
 * With 64 rows of 512 they reach 62 to 92 GFLOP/s, oneDNN's 107 to 152, for
 * weights are packed in each call.
 *
 * Each function takes one struct; its comment names the members that it uses.
 * Results do not depend on the number of threads: the sum over k of y and dx is
 * in the order of k, fused with products where there is AVX2 or AVX-512, and
 * then come b and r; that over rows of dw is in parts of up to 256 rows of f32,
 * 512 of bfloat16, one after the other.  Against sums in double the largest
 * error over the rms of the result is below 2e-6 for f32 and, of bfloat16,
 * below 5e-6 for dw and db and 2e-6 beyond the last rounding of y and dx
 * (tests/num/test_dense.c).  O(n in out) time; calls on different
 * arrays may run at the same time.
 */
struct num_dense {
    size_t n, in, out;
    int across;         /* 1: w is W' [in,out]; 0: w is W [out,in] */
    int bf16;           /* x, r, y, dy and dx are bfloat16 */
    const float *w, *b; /* b [out], or NULL */
    const void *x;      /* [n,in] */
    const void *r;      /* [n,out], or NULL; may be y */
    void *y;            /* [n,out] */
    const void *dy;     /* [n,out]: dL/dy, which is dr as well */
    void *dx;           /* [n,in] */
    float *dw, *db;     /* as w and b; db may be NULL */
    int add;            /* 1: adds to dw and db; 0: overwrites them */
    void *scratch;      /* [num_dense_scratch()] bytes, 4-aligned */
};

/* num_dense_scratch() returns the bytes of scratch for all functions, from n,
 * in, out and bf16; num_dense_name() the name of the kernel that computes the
 * products. */
size_t num_dense_scratch(const struct num_dense *a);
const char *num_dense_name(int bf16);

/* num_dense_forward() writes y, from x, w, b and r. */
void num_dense_forward(const struct num_dense *a);

/* num_dense_back_params() writes dw = dy' x and db = sum dy over rows, from x
 * and dy; num_dense_back_data() dx = dy W, from dy and w. */
void num_dense_back_params(const struct num_dense *a);
void num_dense_back_data(const struct num_dense *a);

#endif
