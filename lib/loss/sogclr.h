#ifndef LOSS_SOGCLR_H
#define LOSS_SOGCLR_H

#include "loss/objective.h"

/*
 * SogCLR: the global contrastive loss, each image's denominator estimated by a
 * running mean over its visits.
 *
 *     g_r  = 1/m sum_c exp(s_rc / tau)          m = 2b - 2 rows of other images
 *     u_r  = (1 - gamma) u_image + gamma g_r    the mean of both views is kept
 *     a_rc = exp(s_rc / tau) / (m u_r)          a constant
 *     L    = 1/b sum_r ( sum_c a_rc s_rc - s_r,partner )
 *     W_rc = 1/b ( a_rc - [c = partner] )
 *
 * Yuan et al. 2022, arXiv:2202.12387, algorithm 1.  The scale is the authors',
 * 2 tau times that of loss/dcl.h, whose gradient it has otherwise at gamma 1.
 * The first visit of an image has gamma 1.
 *
 * State: log u, and whether it is seen.  Logarithms make any tau safe.
 * The reference (of the iSogCLR paper) has no rule for the first visit and
 * keeps the sum of the views, which grows without bound for gamma <= .5:
 * refused.
 *
 * Reports `weight`: the mean of sum_c a_rc, near 1 when u is near g, and `kl`:
 * how far the softmax of a row is from uniform, mean over rows.
 */
extern const struct loss_objective loss_sogclr;

#endif
