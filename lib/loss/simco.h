#ifndef LOSS_SIMCO_H
#define LOSS_SIMCO_H

#include "loss/objective.h"

/*
 * SimCo, dual temperature: negatives are the other view's rows, and the weight
 * of a row comes from a second, higher temperature.
 *
 *     p, p' = softmax of row r over the b rows of the other view, at tau, at
 *             tau_inter
 *     L     = 1/n sum_r w_r ( -log p_partner ),
 *     w_r   = (1 - p'_partner) / (1 - p_partner)        a constant
 *     W_rc  = (1 - p'_partner) / (n tau) ( q_rc - [c = partner] )
 *
 * q = softmax at tau over the b - 1 rows without the partner: 1 - p, which
 * could overflow, cancels.  Zhang et al. 2022, arXiv:2203.17248.  The copy in
 * the iSogCLR repository has p in L at temperature 1 and only view 1 as
 * anchors; its w is not bounded.  No state.
 *
 * Reports `row_weight`, the mean of w_r.
 */
extern const struct loss_objective loss_simco;

#endif
