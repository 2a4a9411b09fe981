#ifndef IMAGE_ACROSS_H
#define IMAGE_ACROSS_H

#include "scratch.h"

/* Lines of pixels to compute from others: */
struct image_across {
    const struct image_axis *axis;
    size_t height;     /* lines */
    const uint8_t *in; /* the first pixel to read of the first line */
    size_t stride;     /* bytes from a line to the next */
    size_t bytes;      /* that may be read from `in` on */
    size_t width;      /* pixels of a line that are read */
    int flip;          /* 1: the last pixel comes first */
    uint8_t *out;      /* [height, axis->n, 3] */
};

/*
 * image_across() computes each pixel by the weights of its tap, rounded,
 *
 *     out = (2^21 + sum_t k[t] in[start + t]) >> 22,
 *
 * two lines at a time with AVX2, with fewer instructions with AVX-512 VNNI.
 * Returns 1 if it did, or 0 if the caller must use another method.  It
 * overwrites the scratch's IMAGE_TRANSPOSED and IMAGE_NARROW.
 */
int image_across(const struct image_across *job,
                 struct image_scratch **scratch);

#endif
