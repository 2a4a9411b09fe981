#ifndef NUM_PANELS_H
#define NUM_PANELS_H

#include <stddef.h>

/*
 * The right matrix of a product in f32, in panels of NUM_PANEL columns: number
 * (p, i, j) is at (p k + i) NUM_PANEL + j, zero beyond the columns.
 */
enum { NUM_PANEL = 32 };

/* num_panels_down() packs rows from `from` to below `below` of a matrix
 * [k,columns], num_panel_across() one panel of its transpose [columns,k].
 * `row` numbers are from a row to the next. */
void num_panels_down(size_t k, size_t columns, size_t row, const float *x,
                     size_t from, size_t below, float *to);
void num_panel_across(size_t k, size_t columns, size_t row, const float *x,
                      size_t panel, float *to);

#endif
