#ifndef LOSS_SOGCLR_H
#define LOSS_SOGCLR_H

#include "loss/objective.h"

/*
 * SogCLR: the global contrastive loss, with a running mean over an image's
 * visits as the estimate of its denominator.
 *
 *     g_r  = 1/m sum_c exp(s_rc / tau)          m = 2b - 2 rows of other images
 *     u_r  = (1 - gamma) u_image + gamma g_r    u_image: mean of both views
 *     a_rc = exp(s_rc / tau) / (m u_r)          a constant
 *     L    = 1/b sum_r ( sum_c a_rc s_rc - s_r,partner )
 *     W_rc = 1/b ( a_rc - [c = partner] )
 *
 * Yuan et al. 2022, arXiv:2202.12387, algorithm 1.  The scale is the authors',
 * 2 tau times that of loss/dcl.h; with gamma 1 the gradients are otherwise the
 * same.  The first visit of an image has gamma 1.
 *
 * State: log u, and whether the image was seen.  With logarithms no tau
 * overflows.  The reference code (of the iSogCLR paper) does not treat the
 * first visit separately, and stores the sum of the views, which grows without
 * bound for gamma <= .5: that is refused.
 *
 * Reports `row_weight`, the mean of sum_c a_rc, near 1 if u is near g, and
 * `kl`, the divergence of the softmax of a row from uniform, mean over rows.
 */
extern const struct loss_objective loss_sogclr;

#endif
