#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

/* The input of one output pixel along one axis. */
struct image_tap {
    size_t start, n; /* the input pixels start .. start + n - 1 */
    size_t k;        /* their weights: weight[k .. k + n - 1] */
};

/* Resampling of one axis: output pixels first .. first + n - 1. */
struct image_axis {
    size_t in, out, first, n; /* sizes and window that it is for */
    struct image_tap *tap;
    size_t tap_room;
    int32_t *weight; /* fixed point: 1 is 2^22 */
    size_t weight_room;
};

/* Axes are cached: random crops of small images repeat their sizes. */
enum { IMAGE_AXES = 64 };

/* Uses of buffers: two that are in use at the same time differ. */
enum {
    IMAGE_PAIRS,
    IMAGE_ENDS,
    IMAGE_UPRIGHT,
    IMAGE_PLANES,
    IMAGE_BLUR,
    IMAGE_COPY,
    IMAGE_LINES,
    IMAGE_ROW,
    IMAGE_BUFFERS
};

struct image_scratch {
    struct {
        uint8_t *byte;
        size_t room;
    } buffer[IMAGE_BUFFERS];
    struct image_axis axis[2][IMAGE_AXES]; /* across, down */
};

/* image_scratch() returns the scratch, allocated at the first call. */
struct image_scratch *image_scratch(struct image_scratch **scratch);

/* image_scratch_bytes() returns a buffer of n bytes; old contents are lost. */
uint8_t *image_scratch_bytes(struct image_scratch **scratch, int which,
                             size_t n);

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
 *     out = (2^21 + sum_t k[t] in[start + t]) >> 22, at most 255,
 *
 * with AVX2 two lines at a time.
 */
void image_across(const struct image_across *job,
                  struct image_scratch **scratch);
