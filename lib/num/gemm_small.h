#ifndef NUM_GEMM_SMALL_H
#define NUM_GEMM_SMALL_H

#include <stddef.h>

/*
 * Products of small matrices: C = alpha A B + beta C, by the loops of
 * winograd_isa.h, with nothing to be made before the first one.  oneDNN writes
 * the machine code of its products when a process asks for the first, which
 * takes 4 to 40 ms, and more than all that most tests of tools compute.
 *
 * Each element is a chain of fused multiplications and additions in the order
 * of k, as in oneDNN up to a depth of about 380: the bits are the same in most
 * shapes.
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

/* num_gemm_small() returns 0, and does nothing, where there are more than 5 x
 * 2^20 multiplications, a single row or column, or with AVX-512 dot products
 * for fewer than 16 rows: without it those of oneDNN would give rows other bits
 * than they have among more.  One thread; takes .6 to 1.7 times as long as
 * oneDNN, which has made its code. */
int num_gemm_small(const struct num_gemm *gemm);

#endif
