#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

/*
 * Two Gaussian blurs of one plane of 8 bits, in place.
 *   plane  [height,width]
 *   0 < sigma <= IMAGE_SIGMA_MAX, in pixels
 */

/* image_blur_box() is PIL's GaussianBlur, to the bit: three box blurs across,
 * then three down, each with a fraction of a pixel at its ends and rounded to
 * 8 bits, the edge repeated (Gwosdek et al., SSVM 2011).  O(n sigma). */
void image_blur_box(size_t width, size_t height, double sigma, uint8_t *plane,
                    struct image_scratch **scratch);

/* image_blur_kernel() is torchvision's gaussian_blur(): a sampled Gaussian of
 * `taps` weights (odd) that sum to 1, the picture mirrored at its edges,
 * rounded once, halves to even.  O(n taps). */
void image_blur_kernel(size_t width, size_t height, size_t taps, double sigma,
                       uint8_t *plane, struct image_scratch **scratch);
