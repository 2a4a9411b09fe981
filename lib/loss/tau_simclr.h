#ifndef LOSS_TAU_SIMCLR_H
#define LOSS_TAU_SIMCLR_H

#include "loss/objective.h"

/*
 * TaU, temperature as uncertainty: the last column e of z is the certainty of
 * the encoder about the view; the others are the embedding.
 *
 *     t_r = 1 / (1 + exp(-e_r)),   x_rc = s_rc t_r / tau
 *     L   = 1/n sum_r ( log sum_c exp(x_rc) - x_r,partner )
 *
 * over the rows c of other images.  Zhang, Wu, Bayrooti and Goodman 2021,
 * arXiv:2110.04403.  The reference code uses t of the first view for the
 * partner of both views, and adds 1e-6 to the sum.  No state.
 *
 * Reports mean, least and largest t.
 */
extern const struct loss_objective loss_tau_simclr;

#endif
