#ifndef LOSS_VICREG_H
#define LOSS_VICREG_H

#include "loss/objective.h"

/*
 * VICReg: variance, invariance, covariance.  With x and y the two views,
 *
 *     L = invariance mean (x - y)^2
 *       + variance/2 ( mean_k max(0, 1 - sd_k(x)) + the same for y )
 *       + covariance/d ( sum_k!=l Cov_kl(x)^2 + the same for y ),
 *
 * sd = sqrt( variance + 1e-4 ), both moments over b - 1.  Bardes, Ponce and
 * LeCun 2022, arXiv:2105.04906, eq. 6.  O(b d^2) time, d^2 scratch.  No state.
 *
 * Reports the three terms with their weights: `invariance`, `variance`,
 * `covariance`.
 */
extern const struct loss_objective loss_vicreg;

#endif
