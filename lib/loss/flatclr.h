#ifndef LOSS_FLATCLR_H
#define LOSS_FLATCLR_H

#include "loss/objective.h"

/*
 * FlatCLR, FlatNCE: the gradient of loss/dcl.h from a value that is always 1,
 *
 *     L = 1/n sum_r exp( v_r - detach(v_r) ),
 *     v_r = log sum_c exp(beta (s_rc - s_r,partner))
 *
 * over the rows c of other images.  Chen et al. 2021, arXiv:2107.01152.  The
 * reported value is InfoNCE, as in the paper.  No state.
 */
extern const struct loss_objective loss_flatclr;

#endif
