#ifndef NUM_SPLIT_H
#define NUM_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Products of rows x_i and y_j in f32, each by three products in bfloat16,
 * which on some processors is faster.  With h = bf16(x) and l = bf16(x - h) for
 * every number,
 *
 *     c_ij = <h_i, h_j> + <h_i, l_j> + <l_i, h_j>
 *
 * is summed in f32, the last two first (Henry, Tang and Heinecke 2019,
 * arXiv:1904.06376).  For rows that are zero or of length 1e-15 .. 1e15 its
 * error is at most
 *
 *     ( num_split_error(d) + r(x) + r(y) ) |x_i| |y_j|
 *
 * with r from num_split_residual().  The product omits <x - h, y - h> and the
 * residuals of both bf16(x - h).  The error of sums of d large terms and of 2 d
 * terms below 2^-7 of them is less than 1.0625 d 2^-24; another 24 covers
 * numbers below the least f32.  r is at most 1.6 x 2^-16, and about .25 x 2^-16
 * for normal numbers.  Results do not depend on the number of threads.
 */

/* num_split_faster() returns 1 if this is faster than f32: on processors with
 * AMX. */
int num_split_faster(void);

/* num_split_error() returns the bound of the sums above, on any processor;
 * num_split_residual() the bound for the residuals of n rows x [n,d]: the
 * largest |x - h - l| / |x| + |x - h|^2 / (2 |x|^2), times 1.01 for |h| above
 * |x|. O(n d). */
double num_split_error(size_t d);
double num_split_residual(size_t n, size_t d, const float *x);

/* num_split_rows() converts x [n,d] to the left operand of a product,
 * num_split_panels() to the right one, each in num_split_words() words, aligned
 * to 64 bytes.  O(n d). */
size_t num_split_words(size_t n, size_t d);
void num_split_rows(size_t n, size_t d, const float *x, uint32_t *rows);
void num_split_panels(size_t n, size_t d, const float *x, uint32_t *panels);

/* num_split_product() writes c [m,n], from m converted rows and n converted
 * columns.  O(m n d); uses threads. */
void num_split_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                       const uint32_t *panels, float *c);

#endif
