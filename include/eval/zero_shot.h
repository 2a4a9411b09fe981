#ifndef EVAL_ZERO_SHOT_H
#define EVAL_ZERO_SHOT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Classification by texts: an image is taken for the class whose text is
 * nearest (Radford et al. 2021, arXiv:2103.00020, 3.1.2).
 *
 *     s_ic   = <x_i, v_c> / (|x_i| |v_c|)          0 where a row is zero
 *     rank_i = 1 + #{c: s_ic > s_i,own} + #{c != own: s_ic = s_i,own} / 2
 *
 * where `own` is the class of the image.  An image is right at k where its rank
 * is k at most, so that texts that are all the same name no class.
 */
struct eval_hits {
    size_t images;        /* of a class */
    size_t at1, at3, at5; /* how many of them are right at 1, 3, 5 */
};

/*
 * eval_zero_shot() counts them for each class.
 *   n, x [n,d]       images; label [n] their classes, 0 .. classes - 1
 *   m, v [m,d]       texts; class [m] of each, no two of one class
 *   hits [classes]   overwritten
 * Images of a class without a text are never right.  Rows are finite, and zero
 * or of length 1e-15 .. 1e15.  Cost and exactness as of eval_answers_rank().
 */
void eval_zero_shot(size_t d, size_t n, const float *x, const int64_t *label,
                    size_t m, const float *v, const int64_t *class,
                    size_t classes, struct eval_hits *hits);

#endif
