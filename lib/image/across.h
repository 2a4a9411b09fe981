#ifndef IMAGE_ACROSS_H
#define IMAGE_ACROSS_H

#include "scratch.h"

/* Lines of pixels to be made of others, and where: */
struct image_across {
    const struct image_axis *axis;
    size_t height;     /* lines */
    const uint8_t *in; /* of the first line the first pixel that is read */
    size_t stride;     /* bytes from a line to the next */
    size_t bytes;      /* that may be read from `in` on */
    size_t width;      /* pixels of a line that are read */
    int flip;          /* 1: the last pixel comes first */
    uint8_t *out;      /* [height, axis->n, 3] */
};

/*
 * image_across() makes each pixel by the weights of its tap, rounded,
 *
 *     out = (2^21 + sum_t k[t] in[start + t]) >> 22,
 *
 * two lines at a time where the processor has AVX2, with fewer instructions
 * where it has AVX-512 VNNI.  Returns 1 when it is done, or 0: the caller has
 * to do it otherwise.  The scratch's IMAGE_TURNED and IMAGE_NARROW are
 * overwritten.
 */
int image_across(const struct image_across *job,
                 struct image_scratch **scratch);

#endif
