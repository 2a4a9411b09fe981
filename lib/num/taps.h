#ifndef NUM_TAPS_H
#define NUM_TAPS_H

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
 * over the outputs q whose tap is inside of the image.  Pixels are brought
 * together so that those of one tap lie in a row: by line, then by their place
 * modulo stride, then by image.  So nothing is multiplied with the zeros beyond
 * the border, which on a map of 2x2 are 20 of 36 taps, and on one pixel 8 of 9,
 * and a stride skips nothing.
 *
 * Against sums in double, of normal numbers, the largest error over the rms of
 * the result is below 1e-5 with 1,024 channels, and below 3e-6 with up to 64
 * (tests/num/test_taps.c).  bfloat16 maps are read and written as such and all
 * else is f32, the weights as well: only the last rounding remains.
 *
 * Maps are in blocks of as many channels as the instruction set has lanes; x
 * may be plain, too, as images are, but for back_data.  Any kernel, stride and
 * padding.  Results do not depend on the number of threads.
 * Two calls may run at the same time with different scratch.
 */
struct num_taps {
    struct num_conv_spec spec;
    struct num_map out;
    const struct winograd_isa *isa;
    size_t threads, group[3]; /* images at a time, of a pass */
};

/* num_taps_init() prepares it for the number of threads in force; -1 where maps
 * are in blocks of another size. */
int num_taps_init(struct num_taps *taps, const struct num_conv_spec *spec,
                  const struct winograd_isa *isa);

/* Whether it does a pass. */
int num_taps_does(const struct num_taps *taps, enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, that a pass wants. */
size_t num_taps_scratch(const struct num_taps *taps, enum num_conv_pass pass);

/* As num_conv_forward() and its like; there is no db. */
void num_taps_forward(const struct num_taps *taps, const void *x,
                      const float *w, const float *b, void *y, void *scratch);
void num_taps_back_data(const struct num_taps *taps, const void *dy,
                        const float *w, void *dx, void *scratch);
void num_taps_back_weights(const struct num_taps *taps, const void *x,
                           const void *dy, float *dw, int accumulate,
                           void *scratch);

#endif
