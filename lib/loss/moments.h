#ifndef LIB_LOSS_MOMENTS_H
#define LIB_LOSS_MOMENTS_H

#include <stddef.h>

/* What objectives on dimensions share: z [b,d] by column. */

/* loss_moments_centre() makes x [b,d] of z with each column's mean taken off; x
 * may be z. */
void loss_moments_centre(size_t b, size_t d, const float *z, float *x);

/* loss_moments_squares() sums the squares of each column into sum [d]. */
void loss_moments_squares(size_t b, size_t d, const float *x, float *sum);

#endif
