#ifndef IMAGE_RANDAUGMENT_H
#define IMAGE_RANDAUGMENT_H

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
 *                   and where that is 0 the plane stays
 *     brightness    mix(0, v, f) of color.h, f = .1 + .18 m here and below
 *     sharpness     mix(smooth, v, f); smooth: the mean of the 3 x 3 around, in
 *                   which the pixel counts five times; the border stays
 *     shear         x or y: reads x + .03 s m y in place of x, or y likewise
 *     translate     x or y: reads x + s m size / 256 in place of x, or y
 *     rotate        by 3 s m degrees around the centre
 *     posterize     the lowest floor(.4 m) bits become 0
 *     solarize      255 - v where v >= 256 - 25.6 m
 *     saturation    mix(grey, v, f)
 *     contrast      mix(mean grey, v, f)
 *
 * What is read between pixels is bilinear, in steps of 1/32 of a pixel; outside
 * of the image there is 128.
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

/* What chance decides of one operation. */
struct image_op {
    enum image_op_kind kind; /* < IMAGE_OPS */
    int negative;            /* s is -1 */
};

/*
 * image_randaugment() does one operation, in place.  None can fail; O(size^2).
 *   magnitude  0 .. 10
 *   plane      [3,size,size], size <= IMAGE_SIZE_MAX
 */
void image_randaugment(struct image_op op, double magnitude, size_t size,
                       uint8_t *plane, struct image_scratch **scratch);

#endif
