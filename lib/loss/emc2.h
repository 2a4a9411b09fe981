#ifndef LOSS_EMC2_H
#define LOSS_EMC2_H

#include "loss/objective.h"

/*
 * EMC2: the gradient of the global contrastive loss, with negatives drawn by
 * Markov chains.
 *
 *     W_rc = beta/n ( w_rc - [c = partner] ),   L = sum_rc W_rc s_rc
 *
 * Yau, Wai, Raman, Sarkar and Hong 2024, arXiv:2404.10575, eq. 11, with
 * beta = 1/tau.  w [n,rows] is the share of recorded steps in which the state
 * of row r's chain was column c.  The sampler computes it, in batch->weights;
 * states from outside of the batch are extra rows.  L is linear in S and says
 * little; see the report's infonce.  The sampler has the state.  Both terms of
 * a row are multiplied by batch->scale, if set.  Reports `outside`, the share
 * of w on rows from outside of the batch, and `dropped`, the mean of 1 - sum of
 * w over rows, for chains with stale scores.
 */
extern const struct loss_objective loss_emc2;

/* loss_emc2_run() is its run(), also for objectives with other chains. */
void loss_emc2_run(const struct loss_batch *batch,
                   const struct loss_settings *set, float *state, float *s,
                   struct loss_report *report);

#endif
