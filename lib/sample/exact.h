#pragma once

#include "sample/emc2.h"

/*
 * EMC2 with a draw instead of proposals: SAMPLE_EXACT, SAMPLE_EXACT_CROSS.
 *
 * The state of row r's chain is a view of image j.  Let T be the rows of the
 * other images of the batch and two views of j, one of them the state.  The
 * weights are the softmax over T,
 *
 *     w_rc = exp(beta s_rc) / sum_{c' in T} exp(beta s_rc'),   c in T,
 *
 * and the next state is drawn from it.  In random batches T is equally likely
 * from each of its rows: P(T | x) = P(T | y) for x, y in T.  So
 * p(x) P(x -> y) = sum_T P(T | x) p(x) p(y) / p(T) is symmetric, and the
 * chain's distribution is the softmax p over all rows of other images, at every
 * b and however similar views are.  For this, if an image has A > 2 fixed
 * views, its second view in T is one of the A - 1 others at random.
 *
 * With endless augmentation the second view is one that j has in this epoch.
 *
 * Across two views the chain of a row in one view walks over rows of the other
 * view.  T is the state and the rows of the other images in that view, without
 * the row of j if j is in the batch: one row for each image.  So again the
 * number of rows of an image in T does not depend on which of them is the
 * state, and P(T | x) = P(T | y) if all images have equally many texts; if not,
 * each image has the same total weight.
 *
 * A state without a column does not count: T is the batch alone, and the chain
 * is cold.
 */

/*
 * sample_exact_row() draws the next state of a row's chain in a step with two
 * views, and returns its column.
 *   s      [columns] the row's similarities
 *   state  of the chain; *cold  out: 1 if it has no column
 *   w      [columns] out: sum to 1
 *   p      [columns] scratch
 * O(columns + b) time.
 */
size_t sample_exact_row(const struct sample_emc2_settings *how,
                        const struct batch *step, size_t row, const float *s,
                        struct sample_state state, int *cold, float *w,
                        double *p);

/* sample_exact_second() returns the second view of the state of row `row`, the
 * same in sample_source_draw() and in the visit: with fixed views (>= 2) one of
 * the others; else view 0 of this epoch, or 1 if the state is view 0. */
struct sample_state sample_exact_second(uint64_t seed, const struct batch *step,
                                        size_t row, struct sample_state state);
