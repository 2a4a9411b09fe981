#ifndef EVAL_DESCRIPTOR_H
#define EVAL_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * A picture by simple features that nothing has learnt, to compare encoders
 * with: of 8 x 8 equal cells each
 *
 *     the mean colour                                          192 numbers
 *     how strong edges of 8 directions are: sums of |grad|     512
 *         by the angle of the gradient modulo pi, grad by
 *         differences of the mean of the colours, 0 at the
 *         border; of length 3 in all
 *     and 2 sqrt of the share of pixels of each of 4^3 colours  64
 *
 * (after Dalal and Triggs 2005, histograms of oriented gradients, in short.)
 */
enum {
    EVAL_CELLS = 8, /* a side */
    EVAL_DIRECTIONS = 8,
    EVAL_DESCRIPTOR =
        EVAL_CELLS * EVAL_CELLS * (3 + EVAL_DIRECTIONS) + 4 * 4 * 4
};

/*
 * eval_descriptor() computes them.
 *   size   of a side, a multiple of EVAL_CELLS
 *   image  [size,size,3]
 *   out    [EVAL_DESCRIPTOR], in the above order; cells by rows
 */
void eval_descriptor(size_t size, const uint8_t *image, float *out);

#endif
