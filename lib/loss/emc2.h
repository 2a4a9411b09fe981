#ifndef LOSS_EMC2_H
#define LOSS_EMC2_H

#include "loss/objective.h"

/*
 * EMC2: the gradient of the global contrastive loss, its negatives drawn by
 * Markov chains.
 *
 *     W_rc = beta/n ( w_rc - [c = partner] ),   L = sum_rc W_rc s_rc
 *
 * Yau, Wai, Raman, Sarkar and Hong 2024, arXiv:2404.10575, eq. 11, with
 * beta = 1/tau.  w [n,rows] is the share of its recorded steps that the chain
 * of row r sat on column c: the sampler's work, in batch->weights, with the
 * chain states from outside of the batch as further rows.  L is linear in S
 * and says little; look at the report's infonce.  The state is the sampler's.
 * Both terms of a row are multiplied by what batch->scale says, if anything.
 * Reports `outside`, the share of w on rows from outside of the batch, and
 * `dropped`, what rows of w lack to sum to 1: chains with stale scores.
 */
extern const struct loss_objective loss_emc2;

/* loss_emc2_run() is its run(), for objectives with other chains. */
void loss_emc2_run(const struct loss_batch *batch,
                   const struct loss_settings *set, float *state, float *s,
                   struct loss_report *report);

#endif
