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
 * the same shape and number of threads.
 *
 * Small ones, of up to 5 x 2^20 multiplications, go to loops of our own
 * (lib/num/gemm_small.h), others to oneDNN's sgemm.  OpenBLAS 0.3.21 with its
 * best kernels for an EPYC 9005 (Cooperlake's, of its own choice) reaches, on
 * one thread, .73 to .96 of that speed in heads, .84 to .87 in similarities of
 * 512 rows and more, .92 with 256 rows and 8,192 neighbours, .76 in k-means,
 * .33 to .37 in eigenvectors and .83 to .91 in transformers.  It is the faster
 * one in three small shapes: 1.05 times for 64 x 64 similarities of width 128
 * and for their gradient, and 1.15 times for 64 rows with a bank of 8,192.
 * These do not go to it, for its bits depend on OPENBLAS_CORETYPE, and with the
 * kernels that this may ask for (Haswell) it reaches .36 to .92 of oneDNN's
 * speed in all shapes (scripts/benchmarks/gemm.sh).
 */
void num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);

#endif
