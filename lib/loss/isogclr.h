#ifndef LOSS_ISOGCLR_H
#define LOSS_ISOGCLR_H

#include "loss/objective.h"

/*
 * iSogCLR: SogCLR with a learned temperature for each image, such that
 * negatives are equally hard for all images: the Kullback-Leibler divergence of
 * their softmax from uniform is rho.
 *
 *     a, u, L, W as in loss/sogclr.h with tau_image (old) for tau
 *     G_r     = log u_r + rho - sum_c a_rc s_rc / tau_image
 *     G_image = mean of both views, within [-3,3]
 *     mom'    = (1 - beta_u) mom + beta_u G_image
 *     tau'    = tau_image - eta mom', within [tau_min,tau_max]
 *
 * Qiu et al. 2023, arXiv:2305.11965, algorithm 1, with the new u in G as in the
 * authors' code.  With old-mean G has the old u if the image was seen, and no
 * bound, as in algorithm 1; fold its factor 1 / N into eta.  If u equals g,
 * G = rho - KL(softmax || uniform): rho >= log m would lower every temperature
 * to tau_min, and is refused.  tau is the initial temperature.
 *
 * State: log u, seen, momentum, temperature (0 until seen).  The reference code
 * does not treat the first visit separately.
 *
 * Reports row_weight and kl as SogCLR, and mean, least and largest temperature
 * of the batch's images (tau_mean, tau_min, tau_max).
 */
extern const struct loss_objective loss_isogclr;

#endif
