#ifndef IMAGE_SCRATCH_H
#define IMAGE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

/* Where one axis of a picture is read to make one pixel of the output. */
struct image_tap {
    size_t start, n; /* the input pixels start .. start + n - 1 */
    size_t k;        /* their weights: weight[k .. k + n - 1] */
};

/* How one axis is resampled: output pixels first .. first + n - 1. */
struct image_axis {
    size_t in, out, first, n; /* what it was made for */
    struct image_tap *tap;
    size_t tap_room;
    int32_t *weight; /* fixed point: 1 is 2^22 */
    size_t weight_room;
};

/* Axes are kept: random crops of small images meet the same sizes again. */
enum { IMAGE_AXES = 64 };

/* What a buffer is for: no two that are held at the same time share one. */
enum {
    IMAGE_TURNED,
    IMAGE_NARROW,
    IMAGE_UPRIGHT,
    IMAGE_PLANES,
    IMAGE_BLUR,
    IMAGE_WAS,
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

/* image_scratch() returns the scratch, made where there is none yet. */
struct image_scratch *image_scratch(struct image_scratch **scratch);

/* image_scratch_bytes() makes room for n bytes; what was there is lost. */
uint8_t *image_scratch_bytes(struct image_scratch **scratch, int which,
                             size_t n);

#endif
