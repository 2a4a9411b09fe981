#ifndef LOSS_BARLOW_TWINS_H
#define LOSS_BARLOW_TWINS_H

#include "loss/objective.h"

/*
 * Barlow Twins: each dimension correlates between the two views, and different
 * dimensions do not.
 *
 *     h = ( z - mean ) / sqrt( variance + 1e-5 )    each dimension, each view
 *     C = H1' H2 / b
 *     L = sum_k (C_kk - 1)^2 + lambda sum_k!=l C_kl^2
 *
 * Zbontar et al. 2021, arXiv:2103.03230, eq. 1.  Biased variance.  O(b d^2)
 * time, d^2 scratch.  No state.
 *
 * Reports `diagonal`, the mean of C_kk, and `off_diagonal`, the root of the
 * mean square of the others.
 */
extern const struct loss_objective loss_barlow_twins;

#endif
