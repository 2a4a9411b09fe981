#ifndef LOSS_SIMCLR_H
#define LOSS_SIMCLR_H

#include "loss/objective.h"

/*
 * SimCLR's NT-Xent, InfoNCE over both views: each row classifies its partner
 * among the 2b - 1 other rows.
 *
 *     L    = 1/n sum_r ( log sum_{c != r} exp(beta s_rc) - beta s_r,partner )
 *     W_rc = beta/n ( p_rc - [c = partner] ),   p = softmax over c != r
 *
 * Chen, Kornblith, Norouzi and Hinton 2020, arXiv:2002.05709, eq. 1, with
 * beta = 1/tau.  Equal rows give log(2b - 1).  It ignores extra rows.  No
 * state. The reference code of the iSogCLR paper computes it with SupCon's
 * class, which multiplies value and gradient by tau / 0.07.
 */
extern const struct loss_objective loss_simclr;

/* loss_infonce() returns only L. */
double loss_infonce(const struct loss_batch *batch, double tau, const float *s);

#endif
