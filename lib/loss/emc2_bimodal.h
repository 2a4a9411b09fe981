#ifndef LIB_LOSS_EMC2_BIMODAL_H
#define LIB_LOSS_EMC2_BIMODAL_H

#include "loss/objective.h"

/*
 * EMC2 for pairs of two kinds, such as image and text: loss/emc2.h with chains
 * that walk only over the rows of the other view,
 *
 *     L = 1/2 E [ -beta s_ic + log sum over the texts c' of other images of
 *                  exp(beta s_ic') ]
 *       + 1/2 E [ -beta s_ic + log sum over the other images i' of
 *                  exp(beta s_i'c) ],
 *     W_rc = beta/n ( w_rc - [c = partner] ),
 *
 * i an image, c its text, rows r of both: two chains for each pair.  The
 * sampler computes w, SAMPLE_CROSS of sample/emc2.h; weights on rows of the
 * same view are refused.  lib/algorithms.md 3.8 and 4.1, after Yau and others
 * 2024, arXiv:2404.10575, equation 11.  Reports the same as emc2.
 */
extern const struct loss_objective loss_emc2_bimodal;

#endif
