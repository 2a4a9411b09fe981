#pragma once

#include <stddef.h>

/*
 * Matrix products, row-major, in three forms:
 *
 *     num_gemm_nn:  C = alpha A B  + beta C    A [m,k]  B [k,n]  C [m,n]
 *     num_gemm_nt:  C = alpha A B' + beta C    A [m,k]  B [n,k]  C [m,n]
 *     num_gemm_tn:  C = alpha A' B + beta C    A [k,m]  B [k,n]  C [m,n]
 *
 * With beta = 0 the old content of C is not read.  Rows are contiguous.
 * O(m n k) time, no scratch from the caller.  The result is the same, bit for
 * bit, for the same shape and number of threads.  Sums are f32: against sums in
 * double, for normal numbers and up to k = 2,048, the largest error over the
 * rms of C is below 5e-6 (tests/num/test_gemm.c).  Calls on different arrays
 * may run at the same time.
 *
 * Small products, of up to 5 x 2^20 multiplications, use the loops of
 * lib/num/gemm_small.h, others oneDNN's sgemm.  OpenBLAS is not used even where
 * it is faster (scripts/benchmarks/README.md), because its bits depend on
 * OPENBLAS_CORETYPE.
 */
void num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
