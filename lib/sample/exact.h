#ifndef SAMPLE_EXACT_H
#define SAMPLE_EXACT_H

#include "sample/emc2.h"

/*
 * EMC2 with a draw in place of proposals: SAMPLE_EXACT, SAMPLE_EXACT_CROSS.
 *
 * The chain of row r stands at a view of image j.  Let T be the rows of the
 * other images of the batch and two views of j, that of the state among them.
 * The weights are the softmax over T,
 *
 *     w_rc = exp(beta s_rc) / sum_{c' in T} exp(beta s_rc'),   c in T,
 *
 * and the next state is drawn from it.  In random batches T is as likely from
 * each of its rows as from the state: P(T | x) = P(T | y) for x, y in T.  So
 * p(x) P(x -> y) = sum_T P(T | x) p(x) p(y) / p(T) is symmetric, and the
 * softmax p over all rows of other images is the chain's distribution, at every
 * b and however alike views are.  For that, where an image has A > 2 fixed
 * views, its second view in T is one of the A - 1 others at random.
 *
 * With endless augmentation the second view is one that j has in this epoch.
 *
 * Across the views a row of image i in one view walks over rows of the other
 * view.  T is then the state and the rows of the other images there, but for
 * that of j, where j is in the batch: one row of an image.  So again each image
 * has as many rows in T as it shows, whichever of them is the state, and
 * P(T | x) = P(T | y) where images have equally many texts; where they have
 * not, each image has the same weight in all.
 *
 * A state that has no column does not count: T is the batch alone, and the
 * chain is cold.
 */

/*
 * sample_exact_row() draws the next state of the chain of a row of a step with
 * two views, and returns its column.
 *   s      [columns] the row's similarities
 *   state  where the chain stands; *cold  out: 1 where that has no column
 *   w      [columns] out: sum to 1
 *   p      [columns] scratch
 * O(columns + b) time.
 */
size_t sample_exact_row(const struct sample_emc2_how *how,
                        const struct batch *step, size_t row, const float *s,
                        struct sample_state state, int *cold, float *w,
                        double *p);

/*
 * sample_exact_second() returns the second view of the state of row `row`, as
 * both that which brings it and that which draws know it: of fixed views (>= 2)
 * one of the others; else view 0 of this epoch, or 1 where the state is that.
 */
struct sample_state sample_exact_second(uint64_t seed, const struct batch *step,
                                        size_t row, struct sample_state state);

#endif
