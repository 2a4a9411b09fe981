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
 * With beta = 0 the old content of C is not read.  Rows are packed.  They go to
 * oneDNN's sgemm, which does not depend on OPENBLAS_CORETYPE and is the faster
 * one on the skinny shapes met here (see scripts/benchmarks).  O(m n k) time,
 * no scratch from the caller.  The result is the same, bit for bit, for the
 * same shape and number of threads.
 */
void num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);

#endif
