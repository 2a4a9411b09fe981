#ifndef NUM_GEMM_H
#define NUM_GEMM_H

#include <stddef.h>

/*
 * Matrix products, row-major, in the three spellings that occur:
 *
 *     num_gemm_nn:  C = alpha A B  + beta C    A [m,k]  B [k,n]  C [m,n]
 *     num_gemm_nt:  C = alpha A B' + beta C    A [m,k]  B [n,k]  C [m,n]
 *     num_gemm_tn:  C = alpha A' B + beta C    A [k,m]  B [k,n]  C [m,n]
 *
 * With beta = 0 the old content of C is not read.  Rows are packed.  O(m n k)
 * time, no scratch from the caller.  The result is the same, bit for bit, for
 * the same shape and number of threads.  Sums are f32: against sums in double,
 * of normal numbers and up to k = 2,048, the largest error over the rms of C is
 * below 4e-6 (tests/num/test_gemm.c).  Calls on different arrays may run at the
 * same time.
 *
 * Small ones, of up to 5 x 2^20 multiplications, go to loops of our own
 * (lib/num/gemm_small.h), others to oneDNN's sgemm.  What OpenBLAS 0.3.21
 * reaches of their speed on one thread, with the kernels that it chooses by
 * itself for an EPYC 9005 and an EPYC 9004, those of Cooperlake for both, and
 * with Haswell's, which OPENBLAS_CORETYPE may ask for, on the latter:
 *
 *                                       9005        9004        Haswell
 *     heads, 64 x 512 x 512             .73 - .96   .71 - 1.05  .75 - 1.05
 *     similarities, 512 rows and more   .84 - .87   .79 - .95   .82 - .88
 *     similarities of 64, gradient      1.05        1.07, 1.2   1.09, 1.06
 *     64 rows with a bank of 8,192      1.15        .94 - 1.08  1.04
 *     256 rows with 8,192 neighbours    .92         .88 - .91   .88
 *     k-means of 40                     .76         1.14        1.22
 *     eigenvectors                      .33 - .37   .44 - .98   .43 - 1.06
 *     transformers                      .83 - .91   .80 - .94   .66 - .84
 *     the products inside of Winograd   -           .76 - .93   .67 - .81
 *
 * (scripts/benchmarks/gemm.sh).  Where it is the faster one, products do not go
 * to it all the same: its bits depend on OPENBLAS_CORETYPE, ours do not.
 */
void num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);

#endif
