#ifndef DATA_RANDAUGMENT_H
#define DATA_RANDAUGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "data/view.h"

/*
 * The operations of RandAugment (Cubuk et al. 2019, arXiv:1909.13719), each as
 * a function of a magnitude m, 0 .. 10, on squares of size x size pixels.  The
 * first ten are those of iSogCLR's images with captions.  s is a sign, v the
 * level of a pixel:
 *
 *     identity
 *     autocontrast  each plane: floor(255 (v - low) / (high - low)), its
 * extremes equalize      each plane: (step / 2 + pixels below v) / step, at
 * most 255, where step = (pixels - those of its largest level) / 255; 0: as it
 * was brightness    mix(0, v, f) of color.h, f = .1 + .18 m, as in all that
 * follow sharpness     mix(smooth, v, f): of the 3 x 3 around, 5 parts in 13
 * are its own; the border stays shear-x, -y   reads x + .03 s m y for x; and
 * likewise y translate-x, -y  reads x + s m size / 256 for x; y rotate by 3 s m
 * degrees around the centre posterize     the lowest floor(.4 m) bits become 0
 *     solarize      255 - v where v >= 256 - 25.6 m
 *     saturation    mix(grey, v, f)
 *     contrast      mix(mean grey, v, f)
 *
 * What is read between pixels is bilinear, in steps of 1/32 of a pixel; outside
 * of the image there is 128.
 */
enum { DATA_OPS = 14 };

/* What chance decides of one operation. */
struct data_op {
    size_t kind;  /* its place in the list, < DATA_OPS */
    int negative; /* s is -1 */
};

/*
 * data_randaugment() does one operation, in place.  None can fail; O(size^2).
 *   magnitude  0 .. 10
 *   plane      [3,size,size], size <= DATA_SIZE_MAX
 */
void data_randaugment(struct data_op op, double magnitude, size_t size,
                      uint8_t *plane, struct data_scratch **scratch);

#endif
