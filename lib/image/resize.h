#pragma once

#include <stddef.h>

#include "image/image.h"
#include "image/view.h"
#include "util/rng.h"

/*
 * image_crop_draw() draws the box of a random resized crop (torchvision's
 * RandomResizedCrop): up to ten times
 *
 *     A = W H U(scale),  r = exp U(log ratio),
 *     w = round(sqrt(A r)),  h = round(sqrt(A / r)),  halves to even,
 *
 * until 0 < w <= W and 0 < h <= H; its position is uniform.  After ten failures
 * it is image_crop_centre().
 *   width, height >= 1               W, H
 *   0 < scale[0] <= scale[1] <= 1    share of the area
 *   0 < ratio[0] <= ratio[1]         width / height
 */
struct image_box image_crop_draw(size_t width, size_t height,
                                 const double scale[2], const double ratio[2],
                                 struct rng *rng);

/* image_crop_centre() returns the largest centred box with a ratio in ratio[0]
 * .. ratio[1]: the whole image if its own ratio is. */
struct image_box image_crop_centre(size_t width, size_t height,
                                   const double ratio[2]);

/*
 * image_resize() scales a part of an image, bilinear and antialiased, bit for
 * bit as PIL's Image.crop().resize(BILINEAR): each output pixel is a weighted
 * mean under a triangle of half-width max(1, in / out), clipped at the edge of
 * the box; first across, rounded to 8 bits, then down; weights in fixed point
 * with 22 bits.
 *   box            the part to read, inside the image
 *   width, height  size after scaling, >= 1
 *   part           the window of the result to write, or NULL for all
 *   flip           1: mirrored left to right, after scaling
 *   out            [part->height, part->width, 3] or [height,width,3]
 * O(pixels read x output taps); pixels outside the part cost nothing.
 */
void image_resize(const struct image *image, const struct image_box *box,
                  size_t width, size_t height, const struct image_box *part,
                  int flip, struct image_scratch **scratch, uint8_t *out);
