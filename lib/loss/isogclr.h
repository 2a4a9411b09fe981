#ifndef LOSS_ISOGCLR_H
#define LOSS_ISOGCLR_H

#include "loss/objective.h"

/*
 * iSogCLR: SogCLR with a temperature for each image, which is learnt such that
 * its negatives are as hard as the rest: the softmax over them is rho away from
 * uniform, by Kullback and Leibler.
 *
 *     a, u, L, W as in loss/sogclr.h with tau_image (old) for tau
 *     G_r     = log u_r + rho - sum_c a_rc s_rc / tau_image
 *     G_image = mean of both views, within [-3,3]
 *     mom'    = (1 - beta_u) mom + beta_u G_image
 *     tau'    = tau_image - eta mom', within [tau_min,tau_max]
 *
 * Qiu et al. 2023, arXiv:2305.11965, algorithm 1, with the new u in G as the
 * authors' code has it; with old-mean it is the old one, where an image was
 * seen, and nothing bounds G, as algorithm 1 has it, whose factor 1 / N is of
 * eta.  Where u is g, G = rho - KL(softmax || uniform): so rho >= log m would
 * let every temperature slide to tau_min, and is refused. tau is where
 * temperatures start.
 *
 * State: log u, seen, momentum, temperature (0 until seen).  The reference has
 * no rule for the first visit.
 *
 * Reports weight and kl as SogCLR, and mean, least and largest temperature of
 * the batch's images (tau_mean, tau_min, tau_max).
 */
extern const struct loss_objective loss_isogclr;

#endif
