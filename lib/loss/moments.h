#ifndef LIB_LOSS_MOMENTS_H
#define LIB_LOSS_MOMENTS_H

#include <stddef.h>

/* Moments of the columns of z [b,d], for objectives on dimensions. */

/* loss_moments_centre() writes x [b,d], z minus the mean of each column; x may
 * be z. */
void loss_moments_centre(size_t b, size_t d, const float *z, float *x);

/* loss_moments_squares() sums the squares of each column into sum [d]. */
void loss_moments_squares(size_t b, size_t d, const float *x, float *sum);

#endif
