#ifndef LOSS_INFONCE_H
#define LOSS_INFONCE_H

#include "loss/objective.h"

/*
 * InfoNCE across the views: each row classifies its partner among the b rows of
 * the other view, in both directions.
 *
 *     L    = 1/b sum_r ( log sum_{c of the other view} exp(beta s_rc)
 *                        - beta s_r,partner )              over all n rows
 *     W_rc = beta/b ( p_rc - [c = partner] ),   p = softmax over those c
 *
 * The two directions are added, so L is twice that of CLIP.  The theory of
 * batches of Cho et al. 2023, arXiv:2307.05906, is about this loss at beta = 1:
 * with d >= b - 1 its minimum is 2 log(1 + (b - 1) exp(-b / (b - 1))), if the
 * views of an image agree and all cosines of different images are -1 / (b - 1).
 * Equal rows give 2 log b.  It ignores extra rows.  No state.
 */
extern const struct loss_objective loss_infonce_objective;

#endif
