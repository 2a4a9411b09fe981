#ifndef NUM_SCALED_H
#define NUM_SCALED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Products of rows x_i and y_j in f32, by 16-bit integers: AVX2 multiplies
 * twice as many of them at a time.  Each row has a scale,
 *
 *     s = max( |x| / (46340 - sqrt(d) / 2), max_k |x_k| / 32767 ),
 *     a_k = x_k / s, rounded,                c_ij = s_i s_j <a_i, a_j>,
 *
 * so that no number exceeds 16 bits, and no sum or partial sum 32 bits: it is
 * at most |a_i| |a_j| <= 46340^2 < 2^31, by Cauchy and Schwarz, and exact.  For
 * rows that are zero or of length 1e-15 .. 1e15 the error of c_ij is at most
 *
 *     ( num_scaled_error(d) + r(x) + r(y) ) |x_i| |y_j|
 *
 * with r from num_scaled_residual(): with e = x - s a,
 * <x, y> - c = <e_x, y> + <x, e_y> - <e_x, e_y>, and c is rounded three times.
 * r is about 7e-5 for rows without outliers, at most 1.01 sqrt(d) / 2 / 32767
 * for d < 10^6.  Results do not depend on the processor and the number of
 * threads.
 */

/* num_scaled_faster() returns 1 if this is faster than f32: with AVX2, but
 * without AVX-512, which is as fast in f32. */
int num_scaled_faster(void);

/* num_scaled_error() returns the bound of rounding above; num_scaled_residual()
 * the bound for the residuals e of n rows x [n,d]: the largest r + r^2 / 2,
 * with r = |e| / |x|, times 1.01.  O(n d). */
double num_scaled_error(size_t d);
double num_scaled_residual(size_t n, size_t d, const float *x);

/* num_scaled_rows() converts x [n,d] to the left operand of a product,
 * num_scaled_panels() to the right one, each in num_scaled_words() words,
 * aligned to 64 bytes.  O(n d). */
size_t num_scaled_words(size_t n, size_t d);
void num_scaled_rows(size_t n, size_t d, const float *x, uint32_t *rows);
void num_scaled_panels(size_t n, size_t d, const float *x, uint32_t *panels);

/* num_scaled_product() writes c [m,n], from m converted rows and n converted
 * columns.  O(m n d); uses threads. */
void num_scaled_product(size_t m, size_t n, size_t d, const uint32_t *rows,
                        const uint32_t *panels, float *c);

#endif
