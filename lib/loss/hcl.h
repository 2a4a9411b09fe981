#ifndef LOSS_HCL_H
#define LOSS_HCL_H

#include "loss/objective.h"

/*
 * HCL, hard negatives: nearer negatives have larger weights, and the share
 * tau_plus of them that are of the same class is subtracted.
 *
 *     x    = s_r / tau, over the m = 2b - 2 rows c of other images
 *     A    = m sum_c exp((1 + beta) x_c) / sum_c exp(beta x_c)
 *     N    = max( (A - tau_plus m exp(x_partner)) / (1 - tau_plus),
 *                 m exp(-1/tau) )
 *     L    = 1/n sum_r log( 1 + N_r exp(-x_r,partner) )
 *
 * Robinson, Chuang, Sra and Jegelka 2021, arXiv:2010.04592.
 * The gradient is through all of it.  beta = tau_plus = 0 is
 * N = sum_c exp(x_c).  Computed with logarithms, so that no tau overflows.  No
 * state.
 *
 * Reports `floored`, the share of rows with N at its floor, the second term.
 */
extern const struct loss_objective loss_hcl;

#endif
