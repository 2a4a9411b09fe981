#ifndef LIB_LOSS_CYCLIP_H
#define LIB_LOSS_CYCLIP_H

#include "loss/objective.h"

/*
 * CyCLIP: CLIP, and similarities that agree within the views and across them,
 *
 *     L = CLIP + l1/b sum_ij D_ij^2 + l2/b sum_ij X_ij^2
 *     D_ij = v_i.v_j - v_(b+i).v_(b+j)        within view 0 and within view 1
 *     X_ij = v_i.v_(b+j) - v_j.v_(b+i)        across, both ways
 *
 *     W_i,j   += 2 l1/b D_ij      W_(b+i),(b+j) -= 2 l1/b D_ij
 *     W_i,b+j += 4 l2/b X_ij,
 *
 * i, j < b; l1 is `within`, l2 is `across`.  Goel and others 2022,
 * "CyCLIP: Cyclic Contrastive Language-Image Pretraining", equations 3 and 4;
 * lib/algorithms.md 3.8.  Reports the sums as `within` and `across`.
 */
extern const struct loss_objective loss_cyclip;

#endif
