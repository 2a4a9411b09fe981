#ifndef LOSS_DCL_H
#define LOSS_DCL_H

#include "loss/objective.h"

/*
 * DCL, decoupled contrastive learning: InfoNCE without the partner in the
 * denominator, that is, the global contrastive loss within the batch.
 *
 *     L    = 1/n sum_r ( log sum_c exp(beta s_rc) - beta s_r,partner )
 *     W_rc = beta/n ( q_rc - [c = partner] ),   q = softmax
 *
 * over the m = 2b - 2 rows c of other images.  Yeh et al. 2022,
 * arXiv:2110.06848; EMC2, arXiv:2404.10575, eq. 1, within the batch.  L may be
 * negative.  No state.
 *
 * Reports `kl`, the divergence of q from uniform, mean over rows.
 */
extern const struct loss_objective loss_dcl;

/* loss_decoupled() replaces S by W as above, reports kl and returns L. */
double loss_decoupled(const struct loss_batch *batch, double tau, float *s,
                      struct loss_report *report);

#endif
