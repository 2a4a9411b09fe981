#pragma once

#include <stddef.h>

#include "num/conv.h"
#include "tile_product.h"

/*
 * Convolution of bfloat16 maps as products of tiles (lib/num/tile_product.h),
 * for processors with AMX, which multiplies these at many times the rate of
 * f32.
 *
 * For some lines of some images at a time, the pixels of the input are copied
 * as rows of 32 channels: by line, then by column modulo stride, then by
 * column, then by image, with zeros beyond the left and right border.  So the
 * pixels that a tap (r, s) of the kernel needs for a line of the result are
 * adjacent, and
 *
 *     Y[p, q..]     = sum_{r,s} X[p stride + r - pad, ..] w(.,., r, s)'
 *     dX[y, ..]     = sum_{r,s} dY[p, q..] w(.,., r, s)
 *     dw(.,., r, s) = sum_p dY[p, q..]' X[p stride + r - pad, ..]
 *
 * are sums of products of tiles without gaps; lines beyond the upper and lower
 * border are skipped.  Weights are rounded to bfloat16, and products are summed
 * in f32; y and dx are rounded once, at their end.  Against sums in double of
 * the same numbers the largest error over the rms of the result is below 1e-5
 * plus that rounding (tests/num/test_tiles.c).
 *
 * Maps are in blocks of 16 channels.  Any kernel up to 16x16, stride and
 * padding.  Results do not depend on the number of threads.  Two calls may run
 * at the same time with different scratch.
 */
struct num_tiles {
    struct num_conv_spec spec;
    struct num_map out;
    const struct tile_kernel *kernel;
    size_t threads;
};

/* num_tiles_init() prepares it for the current number of threads; -1 for other
 * maps, or without a kernel. */
int num_tiles_init(struct num_tiles *tiles, const struct num_conv_spec *spec,
                   const struct tile_kernel *kernel);

/* Bytes of scratch, 64-aligned, of a pass. */
size_t num_tiles_scratch(const struct num_tiles *tiles,
                         enum num_conv_pass pass);

/* num_tiles_run() runs a pass, as num_conv_run() does, without db. */
void num_tiles_run(const struct num_tiles *tiles, enum num_conv_pass pass,
                   const struct num_conv_args *args);
