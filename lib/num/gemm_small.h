#pragma once

#include <stddef.h>

/*
 * Products of small matrices: C = alpha A B + beta C, by the loops of
 * products.h, without preparation.  oneDNN generates the machine code of
 * its products at the first call in a process, which takes 4 to 40 ms, more
 * than all computation in most tests of tools.
 *
 * Each element is a chain of fused multiply-adds in the order of k, as in
 * oneDNN up to a depth of about 380: the bits are the same for most shapes.
 */
struct num_gemm {
    size_t m, n, k;
    float alpha, beta;
    const float *a, *b;   /* element (i, p) of A, (p, j) of B, is */
    size_t a_row, a_step; /* a[i * a_row + p * a_step] */
    size_t b_row, b_step; /* b[p * b_row + j * b_step]; of each, one is 1 */
    float *c;             /* (i, j) is c[i * c_row + j * c_step] */
    size_t c_row, c_step;
};

/* num_gemm_small() returns 0 and does nothing for more than 5 x 2^20
 * multiplications, for a single row or column, and with AVX-512 for dot
 * products of fewer than 16 rows.  (Without AVX-512 oneDNN's bits for these
 * would differ from those of the same rows in a larger product.)  One thread;
 * takes .6 to 1.7 times as long as oneDNN after its first call. */
int num_gemm_small(const struct num_gemm *gemm);
