#pragma once

#include <stddef.h>

#include "num/conv.h"

/*
 * Convolution with kernel 3, stride 1 or 2 and pad 1 by F(4x4, 3x3): Lavin and
 * Gray 2016, arXiv:1509.09308, equation 8 with the sum over channels of
 * section 4.  A tile of 4x4 outputs needs 6x6 inputs d and 36 products per
 * channel, instead of 144:
 *
 *     forward       Y_o  = A' [ sum_k (G g_ok G') . (B' d_k B) ] A
 *     back_data     the same for dy, with g rotated by 180 degrees and
 *                   transposed
 *     back_weights  dg_ok = G' [ sum_tiles (A dY_o A') . (B' d_k B) ] G
 *
 * with . by element.  For each of the 36 points these are products of matrices,
 * [tiles,in] by [in,out].  Including transforms, a pass with 32 channels or
 * more reaches .45 to .75 of the processor's peak rate of multiply-adds in f32,
 * the larger shares with bfloat16; with 16 channels .3 to .47
 * (tests/bench/bench_conv.c, on an EPYC 9004 and a 9005), and with stride 2 .6
 * to .7.
 *
 * Stride 2 has only the forward pass.  Pixels of the same row and column modulo
 * 2, the four phases, are maps of stride 1 with kernels of 2x2, 2x1, 1x2 and
 * 1x1, and F(4,2) and F(4,1) with the same points need 81 products instead of
 * 144 (lib/num/winograd_vec.h).
 *
 * A, B and G for stride 1 have the points 0, +-5/8, +-3/2 and infinity.  Of all
 * pairs in steps of 1/16, from 3/8 to 2, these have the smallest error, 7e-7 of
 * the rms of y with 64 channels; the paper's +-1 and +-2 have 1.6e-6.  Against
 * sums in double, for normal numbers, the largest error over the rms of the
 * result is below 4e-5 for y and dx (1,024 channels; 1e-5 up to 64) and 1e-5
 * for dw (tests/num/test_winograd.c).  With stride 2 that of y is 4e-7, and at
 * most 3e-5 (4,112 channels).
 *
 * The error is relative to the largest numbers of a tile: one activation of 1e4
 * among normal ones causes an error of up to 2e-3 of the usual rms in the
 * outputs of its tile.
 *
 * Maps are in blocks of as many channels as the instruction set has lanes.
 * bfloat16 maps are converted when read and written, and all other numbers are
 * f32, so only the last rounding is added.
 *
 * y and dx do not depend on the number of threads; dw is the same for the same
 * number.  Two calls may run at the same time with different scratch.
 */

/* An instruction set: 0 is the widest of util_isa(); tests select others by
 * number. */
enum { WINOGRAD_ISAS = 3 };
struct winograd_isa;
const struct winograd_isa *num_winograd_isa(size_t i);

/* The units of work of a pass.  c is the number of input
 * channels, o that of output channels. */
struct winograd_pass {
    struct num_map from, to; /* the two maps */
    size_t c, o, panels;     /* panels: of 2 x lanes of o */
    size_t depth;            /* c, of all phases */
    size_t group;            /* tiles at a time */
    size_t take;             /* tiles of a thread's share, some groups */
    int by_image;            /* 1: shares are whole images, with up to about 32
                                channels and enough images for all threads */
    int together;            /* 1: threads share a group; 0: each has its own */
};

struct num_winograd {
    struct num_conv_spec spec;
    const struct winograd_isa *isa;
    size_t points;
    size_t down, across, tiles; /* of an image; of all */
    size_t threads;
    struct winograd_pass pass[3];
};

/* num_winograd_init() prepares it for the current number of threads; -1 for
 * other shapes, or if blocks are not as large as the lanes of isa. */
int num_winograd_init(struct num_winograd *wino,
                      const struct num_conv_spec *spec,
                      const struct winograd_isa *isa);

/* Whether it supports a pass: with stride 2 only forward. */
int num_winograd_does(const struct num_winograd *wino, enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, of a pass. */
size_t num_winograd_scratch(const struct num_winograd *wino,
                            enum num_conv_pass pass);

/* num_winograd_run() runs a pass, as num_conv_run() does, without db; a norm
 * only with stride 1. */
void num_winograd_run(const struct num_winograd *wino, enum num_conv_pass pass,
                      const struct num_conv_args *args);
