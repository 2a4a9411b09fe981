#ifndef LIB_LOSS_EMC2_BIMODAL_H
#define LIB_LOSS_EMC2_BIMODAL_H

#include "loss/objective.h"

/*
 * EMC2 for pairs of two kinds, such as image and text: loss/emc2.h where each
 * row's chain walks over the rows of the other view alone,
 *
 *     L = 1/2 E [ -beta s_ic + log sum over the texts c' of other images of
 *                  exp(beta s_ic') ]
 *       + 1/2 E [ -beta s_ic + log sum over the other images i' of
 *                  exp(beta s_i'c) ],
 *     W_rc = beta/n ( w_rc - [c = partner] ),
 *
 * i an image, c its text, rows r of both: two chains a pair.  w is the
 * sampler's work, SAMPLE_CROSS of sample/emc2.h; weights on rows of the own
 * view are refused.  lib/algorithms.md 3.8 and 4.1, after Yau and others 2024,
 * arXiv:2404.10575, equation 11.  Reports as emc2 does.
 */
extern const struct loss_objective loss_emc2_bimodal;

#endif
