#ifndef IMAGE_CROP_H
#define IMAGE_CROP_H

#include <stddef.h>

#include "image/image.h"
#include "util/rng.h"

/*
 * data_crop_draw() draws the box of a random resized crop (torchvision's
 * RandomResizedCrop): up to ten times
 *
 *     A = W H U(scale),  r = exp U(log ratio),
 *     w = round(sqrt(A r)),  h = round(sqrt(A / r)),  halves to even,
 *
 * until 0 < w <= W and 0 < h <= H; then the place is uniform.  Failing that it
 * is data_crop_centre().
 *   width, height >= 1               W, H
 *   0 < scale[0] <= scale[1] <= 1    share of the area
 *   0 < ratio[0] <= ratio[1]         width / height
 */
struct data_box data_crop_draw(size_t width, size_t height,
                               const double scale[2], const double ratio[2],
                               struct rng *rng);

/*
 * data_crop_centre() returns the largest centred box whose ratio is within the
 * given ones: the whole image where its own ratio is.
 */
struct data_box data_crop_centre(size_t width, size_t height,
                                 const double ratio[2]);

#endif
