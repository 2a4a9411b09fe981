#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "image/view.h"

/* A sample that is a row of numbers, as frozen encoders make them: features x
 * of d numbers, f4 or f2, in an array x.npy with an index (foil-data index). */
enum { DATA_ROW_MAX = 4096 }; /* numbers of a row */

/* The rows of a data set: d numbers of `item` bytes; d is 0 for images. */
struct data_row {
    size_t d, item;
};

/* data_row_of() returns the form of the first sample, which must be that of
 * all; d is 0 if it is an image.  -1 if the index is damaged. */
int data_row_of(const struct data_set *set, struct data_row *row,
                struct err *err);

/*
 * data_row_view() makes view number `view` of a row:
 *
 *     u = sqrt(d) x / |x|        so that noise has a scale; 0 if x is 0
 *     out_i = 0 with probability drop, else (u_i + noise g_i) / (1 - drop)
 *
 * with standard normal g.  (Noise and dropout are the views of SimCSE, Gao, Yao
 * and Chen 2021, arXiv:2104.08821, and of Verma et al. 2021, arXiv:2011.04419,
 * for inputs that are not images.)  The other numbers and the result's
 * dependence on them are those of image_view().  About 10 us for 512 numbers
 * with noise, 1 us without.
 *   recipe  its noise and drop; NULL: out = u, the view for evaluation
 *   stored  [d] numbers of row->item bytes, with any alignment
 *   out     [d] f4, with any alignment
 */
void data_row_view(const struct data_row *row,
                   const struct image_recipe *recipe, const uint8_t *stored,
                   uint64_t seed, uint64_t sample, uint64_t epoch,
                   uint64_t view, uint8_t *out);
