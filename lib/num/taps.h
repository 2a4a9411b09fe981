#pragma once

#include <stddef.h>

#include "num/conv.h"
#include "winograd_isa.h"

/*
 * Convolution as products of matrices, one for each tap (r, s) of the kernel
 * and row p of outputs.  With the pixels of all images as rows of channels,
 *
 *     forward       Y[p, q..]  += X[p stride + r - pad, ..] w(.,., r, s)'
 *     back_data     dX[y, ..]  += dY[p, q..] w(.,., r, s)
 *     back_weights  dw(.,., r, s)' += X[.., ..]' dY[p, q..]
 *
 * over the outputs q with their tap inside the image.  Pixels are sorted so
 * that those of one tap are adjacent: by line, then by column modulo stride,
 * then by image.  So the padding is not multiplied, which on a map of 2x2 is 20
 * of 36 taps, and on one pixel 8 of 9, and a stride skips nothing.
 *
 * Against sums in double, for normal numbers, the largest error over the rms of
 * the result is below 1e-5 with 1,024 channels, and below 3e-6 with up to 64
 * (tests/num/test_taps.c).  bfloat16 maps are converted when read and written;
 * all other numbers, also the weights, are f32, so only the last rounding is
 * added.
 *
 * Maps are in blocks of as many channels as the instruction set has lanes; x
 * may also be plain, as images are, except for back_data.  Any kernel, stride
 * and padding.  Results do not depend on the number of threads.  Two calls may
 * run at the same time with different scratch.
 */
struct num_taps {
    struct num_conv_spec spec;
    struct num_map out;
    const struct winograd_isa *isa;
    size_t threads, group[3]; /* images at a time, of a pass */
};

/* num_taps_init() prepares it for the current number of threads; -1 if maps are
 * in blocks of another size. */
int num_taps_init(struct num_taps *taps, const struct num_conv_spec *spec,
                  const struct winograd_isa *isa);

/* Whether it supports a pass. */
int num_taps_does(const struct num_taps *taps, enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, of a pass. */
size_t num_taps_scratch(const struct num_taps *taps, enum num_conv_pass pass);

/* num_taps_run() runs a pass, as num_conv_run() does, without db. */
void num_taps_run(const struct num_taps *taps, enum num_conv_pass pass,
                  const struct num_conv_args *args);
