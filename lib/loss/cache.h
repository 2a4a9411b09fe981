#ifndef LOSS_CACHE_H
#define LOSS_CACHE_H

#include "loss/objective.h"

/*
 * The negative cache: the global contrastive loss with one negative per row,
 * drawn from the softmax over a bank of features.
 *
 * The gradient of -log p_+ with respect to a row's scores is
 * (1 - p_+) beta (E_p s_J - s_+), E_p over the negatives only.  With J drawn
 * from q, one draw estimates the mean:
 *
 *     W_rc = beta/n ( scale_r1 w_rc - scale_r0 [c = partner] ),
 *     scale_r = (1 - p_+, (1 - p_+) p(J)/q(J)),   w_rc = [c is J's row].
 *
 * Lindgren, Reddi, Guo and Kumar 2021, "Efficient Training of Retrieval Models
 * using Negative Cache"; lib/algorithms.md 4.3, with the current score of the
 * positive in p_+, and J drawn by an older query, weighted by its importance
 * (sample/cache.h).  w and scale are from the service, in batch->weights and
 * batch->scale; without scale all factors are 1, as in loss/emc2.h.  L is
 * linear in S and says little; see the report's infonce.
 *
 * Reports `negative_mass`, the mean of 1 - p_+, and `importance_ess`: with x_r
 * = scale_r1 / scale_r0 over the rows with a draw, (sum x)^2 / sum x^2 divided
 * by their number; 1 if draws are as good as fresh ones.
 */
extern const struct loss_objective loss_cache;

#endif
