#ifndef NUM_SPLIT_H
#define NUM_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Products of rows x_i and y_j in f32, each by three products in bfloat16,
 * which are faster together on some processors.  With h = bf16(x),
 * l = bf16(x - h) of every number,
 *
 *     c_ij = <h_i, h_j> + <h_i, l_j> + <l_i, h_j>
 *
 * is summed in f32 (Henry, Tang and Heinecke 2019, arXiv:1904.06376).  It is at
 * most num_split_error(d) |x_i| |y_j| from <x_i, y_j>, for rows that are zero
 * or of length 1e-15 .. 1e15: u = 2^-8 for each rounding leaves 3 u^2, and sums
 * of 3 d terms and what is below the least f32 come to less than 4 d 2^-24.
 * Results do not depend on the number of threads.
 */

/* num_split_gains() returns 1 where this is faster than f32: on processors with
 * AMX. */
int num_split_gains(void);

/* num_split_error() returns the bound above, on any processor. */
double num_split_error(size_t d);

/* num_split_rows() prepares x [n,d] as the left side of a product,
 * num_split_panels() as the right one, each in num_split_words() words, aligned
 * to 64 bytes.  O(n d). */
size_t num_split_words(size_t n, size_t d);
void num_split_rows(size_t n, size_t d, const float *x, uint32_t *rows);
void num_split_panels(size_t n, size_t d, const float *x, uint32_t *panels);

/* num_split_product() writes c [m,n], of m prepared rows and n prepared panels.
 * O(m n d), shared among the threads. */
void num_split_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                       const uint32_t *panels, float *c);

#endif
