#ifndef LIB_LOSS_ISOGCLR_BIMODAL_H
#define LIB_LOSS_ISOGCLR_BIMODAL_H

#include "loss/objective.h"

/*
 * iSogCLR for pairs of two kinds: loss/sogclr_bimodal.h with a learned
 * temperature for each image and for each text,
 *
 *     G_r   = log u_r + rho - sum_c w_rc x_rc / (b - 1), clipped to +-5
 *     m_r   = (1 - beta_u) m_r + beta_u G_r
 *     tau_r = clip(tau_r - eta m_r, tau_min, tau_max)        after the step
 *     rho   = log(b - 1) - rho_gap.
 *
 * rho is the target divergence from uniform.  A softmax over b - 1 others
 * diverges at most by log(b - 1), so rho_gap must be above 0; with log(b - 1)
 * or more, as with the default if b <= 5, every temperature would rise to
 * tau_max, and it is refused.  With .4, as published, temperatures fall to
 * tau_min on small data; 1.5 is the default.  Qiu and others 2023, "Not All
 * Semantics are Created Equal", algorithm 2; lib/algorithms.md 3.8.
 *
 * Columns {log_u, seen, momentum, tau} for each side.  Reports rho and, for the
 * temperatures of both sides, mean, least, largest, quartiles, and the share at
 * tau_min as `tau_at_min`.
 */
extern const struct loss_objective loss_isogclr_bimodal;

#endif
