#ifndef LIB_LOSS_SOGCLR_BIMODAL_H
#define LIB_LOSS_SOGCLR_BIMODAL_H

#include "loss/objective.h"

/*
 * SogCLR for pairs of two kinds, such as image and text: the global loss of
 * both directions, with running means as denominators,
 *
 *     x_rc  = (s_rc - s_r,partner) / tau
 *     g_r   = sum_c exp(x_rc) / (b - 1)
 *     u_r   = (1 - gamma) u_r + gamma g_r         g_r at the first visit
 *     w_rc  = exp(x_rc) / u_r
 *     W_rc  = w_rc / (b (b - 1)),   W_r,partner -= sum_c w_rc / (b (b - 1)),
 *
 * c over the rows of the other view without the partner.  The value is that of
 * the surrogate, 1/b sum_rc w_rc (s_rc - s_r,partner) / (b - 1): its gradient
 * is that of the global loss, its value says little; see infonce.
 *
 * With --compat reference c includes the partner, and the first visit is not
 * special: it starts from u = 0.
 *
 * Columns {log_u, seen} for each side: that of an image, and that of its text
 * or other view.  Qiu and others 2023, "Not All Semantics are Created Equal",
 * algorithm 2 with fixed temperatures; lib/algorithms.md 3.8.
 */
extern const struct loss_objective loss_sogclr_bimodal;

#endif
