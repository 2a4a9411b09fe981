#ifndef LIB_LOSS_SIGLIP_H
#define LIB_LOSS_SIGLIP_H

#include "loss/objective.h"

/*
 * SigLIP: a sigmoid classifies each row of view 0 with each row of view 1 as a
 * pair or not,
 *
 *     x_ij = beta s_i,b+j + c        y_ij = 1 for i = j, else -1
 *     L = 1/b sum_ij log(1 + exp(-y_ij x_ij))        i, j < b
 *     W_i,b+j = -beta/b y_ij sigmoid(-y_ij x_ij),
 *
 * beta = 1/tau and c are learned, with dL/d(log beta) = sum W s and dL/dc =
 * sum W / beta; c starts at bias, and beta is clipped to 1 .. 100.  With
 * fixed-tau only c is learned.  Zhai and others 2023, "Sigmoid Loss for
 * Language Image Pre-Training", equation 1 and algorithm 1;
 * lib/algorithms.md 3.8.
 */
extern const struct loss_objective loss_siglip;

#endif
