#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

/*
 * The operations of RandAugment (Cubuk et al. 2019, arXiv:1909.13719), each as
 * a function of a magnitude m, 0 .. 10, on squares of size x size pixels.  The
 * first ten are those of iSogCLR's images with captions.  s is a sign, v the
 * level of a pixel:
 *
 *     identity
 *     autocontrast  each plane: floor(255 (v - low) / (high - low)), low and
 *                   high its extremes
 *     equalize      each plane: (step / 2 + pixels below v) / step, 255 at
 *                   most; step = (pixels - those of its largest level) / 255,
 *                   if that is 0 the plane is unchanged
 *     brightness    mix(0, v, f) of color.h, with f = .1 + .18 m
 *     sharpness     mix(smooth, v, f); smooth: the mean of 3 x 3 pixels, the
 *                   centre weighted by five; the border is unchanged
 *     shear         x or y: reads at x + .03 s m y instead of x, or y likewise
 *     translate     x or y: reads at x + s m size / 256 instead of x, or y
 *     rotate        by 3 s m degrees around the centre
 *     posterize     the lowest floor(.4 m) bits become 0
 *     solarize      255 - v if v >= 256 - 25.6 m
 *     saturation    mix(grey, v, f)
 *     contrast      mix(mean grey, v, f)
 *
 * Reads between pixels are bilinear, in steps of 1/32 of a pixel; pixels
 * outside of the image are 128.
 */
enum image_op_kind {
    IMAGE_IDENTITY,
    IMAGE_AUTOCONTRAST,
    IMAGE_EQUALIZE,
    IMAGE_BRIGHTNESS,
    IMAGE_SHARPNESS,
    IMAGE_SHEAR_X,
    IMAGE_SHEAR_Y,
    IMAGE_TRANSLATE_X,
    IMAGE_TRANSLATE_Y,
    IMAGE_ROTATE,
    IMAGE_POSTERIZE,
    IMAGE_SOLARIZE,
    IMAGE_SATURATION,
    IMAGE_CONTRAST,
    IMAGE_OPS
};

/* The random choices of one operation. */
struct image_op {
    enum image_op_kind kind; /* < IMAGE_OPS */
    int negative;            /* s is -1 */
};

/*
 * image_randaugment() applies one operation, in place.  It cannot fail.
 * O(size^2).
 *   magnitude  0 .. 10
 *   plane      [3,size,size], size <= IMAGE_SIZE_MAX
 */
void image_randaugment(struct image_op op, double magnitude, size_t size,
                       uint8_t *plane, struct image_scratch **scratch);
