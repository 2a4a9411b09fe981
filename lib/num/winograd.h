#ifndef NUM_WINOGRAD_H
#define NUM_WINOGRAD_H

#include <stddef.h>

#include "num/conv.h"

/*
 * Convolution with kernel 3, stride 1 or 2 and pad 1 by F(4x4, 3x3): Lavin and
 * Gray 2016, arXiv:1509.09308, equation 8 with the sum over channels of
 * section 4. A tile of 4x4 outputs comes of 6x6 inputs d through 36 products a
 * channel, in place of 144:
 *
 *     forward       Y_o  = A' [ sum_k (G g_ok G') . (B' d_k B) ] A
 *     back_data     the same of dy, with g turned by 180 degrees and transposed
 *     back_weights  dg_ok = G' [ sum_tiles (A dY_o A') . (B' d_k B) ] G
 *
 * where . is by element.  For each of the 36 points these are products of
 * matrices, [tiles,in] by [in,out].  With its transforms, a pass of 32 channels
 * or more makes them at .45 to .75 of the most that the processor's
 * multiply-adds reach in f32, the larger shares with bfloat16; with 16 channels
 * at .3 to .47 (tests/bench/bench_conv.c, on an EPYC 9004 and a 9005), and with
 * stride 2 at .6 to .7.
 *
 * With stride 2 there is forward alone: pixels whose row and column modulo 2
 * are alike, the four phases, are maps of stride 1 with kernels of 2x2, 2x1,
 * 1x2 and 1x1, and F(4,2) and F(4,1) of the same points take 81 products in
 * place of 144 (lib/num/winograd_vec.h).
 *
 * A, B and G of stride 1 are those of the points 0, +-5/8, +-3/2 and infinity:
 * of all pairs in steps of 1/16, from 3/8 to 2, they have the smallest error,
 * 7e-7 of the rms of y with 64 channels; with the paper's +-1 and +-2 it
 * is 1.6e-6. Against sums in double, of normal numbers, the largest error over
 * the rms of the result is below 4e-5 for y and dx (1,024 channels; 1e-5 up to
 * 64) and 1e-5 for dw (tests/num/test_winograd.c).  With stride 2 y has 4e-7,
 * and at most 3e-5 (4,112 channels).
 *
 * The error is relative to the largest numbers of a tile: one activation of 1e4
 * among normal ones costs the outputs of its tile up to 2e-3 of their usual
 * rms.
 *
 * Maps are in blocks of as many channels as the instruction set has lanes.
 * bfloat16 maps are read and written as such, and all else is f32: of the
 * result only its last rounding remains.
 *
 * y and dx do not depend on the number of threads; dw is the same for the same
 * number.  Two calls may run at the same time with different scratch.
 */

/* An instruction set: 0 is the widest of util_isa(); tests ask for others by
 * number. */
enum { WINOGRAD_ISAS = 3 };
struct winograd_isa;
const struct winograd_isa *num_winograd_isa(size_t i);

/* What a pass does at a time (winograd_work.h).  c are the channels that are
 * read, o those that are written. */
struct winograd_pass {
    struct num_map from, to; /* the two maps */
    size_t c, o, panels;     /* panels: of 2 x lanes of o */
    size_t depth;            /* c, of all phases */
    size_t group;            /* tiles at a time */
    size_t take;             /* tiles that a thread takes, of some groups */
    int by_image;            /* those are whole images */
    int together;            /* threads share a group; else each has its own */
};

struct num_winograd {
    struct num_conv_spec spec;
    const struct winograd_isa *isa;
    size_t points;
    size_t down, across, tiles; /* of an image; of all */
    size_t threads;
    struct winograd_pass pass[3];
};

/* num_winograd_init() prepares it for the number of threads in force; -1 when
 * the shape is another, or in blocks of another size than the lanes of isa. */
int num_winograd_init(struct num_winograd *wino,
                      const struct num_conv_spec *spec,
                      const struct winograd_isa *isa);

/* Whether it does a pass: with stride 2 forward alone. */
int num_winograd_does(const struct num_winograd *wino, enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, that a pass wants. */
size_t num_winograd_scratch(const struct num_winograd *wino,
                            enum num_conv_pass pass);

/* As num_conv_forward() and its like; there is no db. */
void num_winograd_forward(const struct num_winograd *wino, const void *x,
                          const float *w, const float *b, void *y,
                          void *scratch);
void num_winograd_back_data(const struct num_winograd *wino, const void *dy,
                            const float *w, void *dx, void *scratch);
void num_winograd_back_weights(const struct num_winograd *wino, const void *x,
                               const void *dy, float *dw, int accumulate,
                               void *scratch);

/* Whether a pass writes one image after the other, which it does with up to 32
 * channels or so and enough images for all threads. */
int num_winograd_by_image(const struct num_winograd *wino,
                          enum num_conv_pass pass);

/* The same with what is done beside it (num/conv.h): a norm with stride 1. */
void num_winograd_forward_beside(const struct num_winograd *wino,
                                 const struct num_conv_beside *beside,
                                 const void *x, const float *w, const float *b,
                                 void *y, void *scratch);
void num_winograd_back_data_beside(const struct num_winograd *wino,
                                   const struct num_conv_beside *beside,
                                   const void *dy, const float *w, void *dx,
                                   void *scratch);
void num_winograd_norm_back_weights(const struct num_winograd *wino,
                                    const void *x,
                                    const struct num_conv_norm *norm,
                                    const void *dy, float *dw, int accumulate,
                                    void *scratch);

#endif
