#ifndef IMAGE_SCRATCH_H
#define IMAGE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

/* Where one axis of a picture is read to make one pixel of the output. */
struct data_tap {
    size_t start, n; /* the input pixels start .. start + n - 1 */
    size_t k;        /* their weights: weight[k .. k + n - 1] */
};

/* How one axis is resampled: output pixels first .. first + n - 1. */
struct data_axis {
    size_t in, out, first, n; /* what it was made for */
    struct data_tap *tap;
    size_t tap_room;
    int32_t *weight; /* fixed point: 1 is 2^22 */
    size_t weight_room;
};

/* Axes are kept: random crops of small images meet the same sizes again. */
enum { DATA_AXES = 64 };

/* What a buffer is for: no two that are held at the same time share one. */
enum {
    DATA_TURNED,
    DATA_NARROW,
    DATA_UPRIGHT,
    DATA_PLANES,
    DATA_BLUR,
    DATA_WAS,
    DATA_LINES,
    DATA_ROW,
    DATA_BUFFERS
};

struct data_scratch {
    struct {
        uint8_t *byte;
        size_t room;
    } buffer[DATA_BUFFERS];
    struct data_axis axis[2][DATA_AXES]; /* across, down */
};

/* data_scratch() returns the scratch, made where there is none yet. */
struct data_scratch *data_scratch(struct data_scratch **scratch);

/* data_scratch_bytes() makes room for n bytes; what was there is lost. */
uint8_t *data_scratch_bytes(struct data_scratch **scratch, int which, size_t n);

#endif
