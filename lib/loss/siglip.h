#ifndef LIB_LOSS_SIGLIP_H
#define LIB_LOSS_SIGLIP_H

#include "loss/objective.h"

/*
 * SigLIP: each row of view 0 and each of view 1 are a pair or none, decided by
 * a sigmoid of their own,
 *
 *     x_ij = beta s_i,b+j + c        y_ij = 1 for i = j, else -1
 *     L = 1/b sum_ij log(1 + exp(-y_ij x_ij))        i, j < b
 *     W_i,b+j = -beta/b y_ij sigmoid(-y_ij x_ij),
 *
 * beta = 1/tau and c are learnt, with dL/d(log beta) = sum W s and dL/dc =
 * sum W / beta; c begins at bias, and beta stays within 1 and 100.  With
 * fixed-tau only c is learnt.  Zhai and others 2023, "Sigmoid Loss for
 * Language Image Pre-Training", equation 1 and algorithm 1;
 * lib/algorithms.md 3.8.
 */
extern const struct loss_objective loss_siglip;

#endif
