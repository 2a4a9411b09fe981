#ifndef LOSS_SPECTRAL_CL_H
#define LOSS_SPECTRAL_CL_H

#include "loss/objective.h"

/*
 * Spectral contrastive loss, with rows shortened to at most sqrt(mu):
 *
 *     z_r -> z_r min(1, sqrt(mu) / |z_r|),   T = Z1 Z2'
 *     L = 1/mu ( -2/b sum_i T_ii + 1/(b (b - 1)) sum_i!=j T_ij^2 )
 *     dL/dZ1 = D Z2,  dL/dZ2 = D' Z1,
 *     D = 2/mu ( -I/b + offdiag(T) / (b (b - 1)) )
 *
 * HaoChen, Wei, Gaidon and Ma 2021, arXiv:2106.04156.  No state.  Reports
 * `capped`, the share of shortened rows.
 */
extern const struct loss_objective loss_spectral_cl;

#endif
