#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Products c_ij of rows x_i and y_j in f32, by narrower numbers, which on some
 * processors is faster.  For rows that are zero or of length 1e-15 .. 1e15 the
 * error of c_ij is at most
 *
 *     ( error(d) + residual(x) + residual(y) ) |x_i| |y_j|
 *
 * Results do not depend on the number of threads.
 */
struct num_narrow {
    /* error() returns the bound of rounding; residual() that of what the
     * conversion of n rows x [n,d] omits, times 1.01.  O(n d). */
    double (*error)(size_t d);
    double (*residual)(size_t n, size_t d, const float *x);

    /* rows() converts x [n,d] to the left operand of a product, panels() to
     * the right one, each in words() words, aligned to 64 bytes.  O(n d). */
    size_t (*words)(size_t n, size_t d);
    void (*rows)(size_t n, size_t d, const float *x, uint32_t *rows);
    void (*panels)(size_t n, size_t d, const float *x, uint32_t *panels);

    /* product() writes c [m,n], from m converted rows and n converted columns.
     * O(m n d); uses threads. */
    void (*product)(size_t m, size_t n, size_t d, const uint32_t *rows,
                    const uint32_t *panels, float *c);
};

/*
 * num_split takes three products in bfloat16.  With h = bf16(x) and l = bf16(x
 * - h) for every number,
 *
 *     c_ij = <h_i, h_j> + <h_i, l_j> + <l_i, h_j>
 *
 * is summed in f32, the last two first (Henry, Tang and Heinecke 2019,
 * arXiv:1904.06376).  It omits <x - h, y - h> and the residuals of both
 * bf16(x - h): residual() is the largest |x - h - l| / |x| + |x - h|^2 / (2
 * |x|^2), at most 1.6 x 2^-16, and about .25 x 2^-16 for normal numbers.  The
 * error of sums of d large terms and of 2 d terms below 2^-7 of them is less
 * than 1.0625 d 2^-24; another 24 covers numbers below the least f32.
 *
 * num_scaled takes 16-bit integers: AVX2 multiplies twice as many of them at a
 * time.  Each row has a scale,
 *
 *     s = max( |x| / (46340 - sqrt(d) / 2), max_k |x_k| / 32767 ),
 *     a_k = x_k / s, rounded,                c_ij = s_i s_j <a_i, a_j>,
 *
 * so that no number exceeds 16 bits, and no sum or partial sum 32 bits: it is
 * at most |a_i| |a_j| <= 46340^2 < 2^31, by Cauchy and Schwarz, and exact. With
 * e = x - s a, <x, y> - c = <e_x, y> + <x, e_y> - <e_x, e_y>, and c is rounded
 * three times: residual() is the largest r + r^2 / 2, with r = |e| / |x|.  It
 * is about 7e-5 for rows without outliers, at most 1.01 sqrt(d) / 2 / 32767 for
 * d < 10^6.  Results do not depend on the processor.
 */
extern const struct num_narrow num_split, num_scaled;

/* num_narrow() returns the one that is faster than f32: with AMX num_split;
 * with AVX2, but without AVX-512, which is as fast in f32, num_scaled; else
 * NULL. */
const struct num_narrow *num_narrow(void);
