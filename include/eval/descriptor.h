#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Simple features of a picture without training, as a baseline for encoders.
 * The picture is divided into 8 x 8 equal cells:
 *
 *     the mean colour of each cell                          192 numbers
 *     strength of edges in each cell, in 8 directions: 512 numbers sums of
 *         |grad| by its angle modulo pi; grad is of differences of the mean of
 *         the colours, 0 at the border.  All 512 together are scaled to length
 *         3
 *     for each of 4^3 colours 2 sqrt of its share of the     64 numbers
 *         pixels of the picture
 *
 * (a short form of histograms of oriented gradients, Dalal and Triggs 2005.)
 */
enum {
    EVAL_CELLS = 8, /* a side */
    EVAL_DIRECTIONS = 8,
    EVAL_DESCRIPTOR =
        EVAL_CELLS * EVAL_CELLS * (3 + EVAL_DIRECTIONS) + 4 * 4 * 4
};

/*
 * eval_descriptor() computes these features.
 *   size   pixels of a side, a multiple of EVAL_CELLS
 *   image  [size,size,3]
 *   out    [EVAL_DESCRIPTOR], in the order above; cells by rows
 */
void eval_descriptor(size_t size, const uint8_t *image, float *out);
