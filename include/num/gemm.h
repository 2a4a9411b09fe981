#ifndef NUM_GEMM_H
#define NUM_GEMM_H

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
 * lib/num/gemm_small.h, others oneDNN's sgemm.  The table is the speed of
 * OpenBLAS 0.3.21 divided by theirs: on an EPYC 9005 with one thread and with
 * two, and on an EPYC 9004, with its default kernels, those for Cooperlake; and
 * on the 9005 with those for Haswell, selected by OPENBLAS_CORETYPE.
 *
 *                           9005        2 threads   9004        Haswell
 *   heads, 64 x 512 x 512   .79 - .94   .77 - 1.58  .71 - 1.05  .46 - .57
 *   similarities, 512 rows  .96         .97 - 1.01  .79 - .95   .51
 *   similarities of 64      1.21        1.60        1.07        .77
 *   gradient of 64          1.30        1.30        1.2         .59
 *   64 rows, bank of 8,192  1.15        1.12        .94 - 1.08  .72
 *   256 rows, 8,192 others  1.07        1.03        .88 - .91   .59
 *   k-means of 40           1.07        1.21        1.14        .65
 *   eigenvectors            .37 - .65   .26 - .82   .44 - .98   .35 - .62
 *   transformers            .86 - 1.02  .83 - .98   .80 - .94   .48 - .50
 *   inside of Winograd      .73 - .93   .65 - .86   .76 - .93   .44 - .50
 *
 * (scripts/benchmarks/gemm.sh).  OpenBLAS is not used even if it is faster,
 * because its bits depend on OPENBLAS_CORETYPE.
 */
void num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);
void num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
                 const float *b, float beta, float *c);

#endif
