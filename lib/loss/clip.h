#ifndef LIB_LOSS_CLIP_H
#define LIB_LOSS_CLIP_H

#include "loss/objective.h"

/*
 * CLIP: each row of one view picks its partner among the rows of the other,
 *
 *     L    = 1/n sum_r [ log sum_c exp(beta s_rc) - beta s_r,partner ]
 *     W_rc = beta/n ( p_rc - [c = partner] ),
 *
 * c over the b rows of the other view, including the partner, p the softmax;
 * beta = 1/tau.  If the views are an image and its text this is the mean of
 * both directions.  It is half of loss/infonce.h at the same tau.
 *
 * log beta is learned unless fixed-tau: dL/d(log beta) = sum_rc W_rc s_rc, with
 * beta clipped to 1 .. 100.  Radford and others 2021, "Learning Transferable
 * Visual Models From Natural Language Supervision", figure 3;
 * lib/algorithms.md 3.8.
 */
extern const struct loss_objective loss_clip;

/* The parameters of CLIP, for objectives that extend it. */
enum { CLIP_TAU = LOSS_TAU, CLIP_FIXED, CLIP_OWN };

#define CLIP_PARAMS(v)                                    \
    LOSS_PARAM_TAU_LEARNT(v), [CLIP_FIXED] = {PARAM_FLAG( \
                                  "fixed-tau",            \
                                  "the temperature stays, it is not learnt")}

extern const struct loss_scalar loss_clip_scalars[];

/* loss_clip_weigh() replaces S by W and returns L; *slope is dL/d(log beta). */
double loss_clip_weigh(const struct loss_batch *batch, double tau, float *s,
                       double *slope);

#endif
