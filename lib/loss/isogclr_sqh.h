#ifndef LOSS_ISOGCLR_SQH_H
#define LOSS_ISOGCLR_SQH_H

#include "loss/objective.h"

/*
 * iSogCLR on a squared hinge, the second form in the authors' code:
 *
 *     l_rc = max( 0, s_rc - s_r,partner + 0.8 )^2     over all c except r
 *     g_r  = 1/m sum_c exp(l_rc / tau),  m = 2b - 1
 *     L    = 1/b sum_rc a_rc l_rc,       a_rc = exp(l_rc / tau) / (m u_r)
 *
 * with u, temperatures, state and report as in loss/isogclr.h, l_rc for s_rc.
 * Not in the paper (arXiv:2305.11965).  tau is that of the row's image; the
 * reference code uses that of the column's image.
 */
extern const struct loss_objective loss_isogclr_sqh;

#endif
