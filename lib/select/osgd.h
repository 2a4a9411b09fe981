#ifndef SELECT_OSGD_H
#define SELECT_OSGD_H

#include "select/strategy.h"

enum { OSGD_TOP = SELECT_OWN, OSGD_DRAWS, OSGD_REPLACE };

/*
 * Ordered SGD: of several random batches those with the largest loss are
 * trained (Kawaguchi and Lu 2020; lib/algorithms.md 5.3; the loss is that of
 * select/score.h, on the features at hand).  All batches have the size of the
 * layout's largest.
 *
 * osgd, k = `draws`, q = `top`:
 *
 *   without replacement  a random partition of the samples into
 *       M = floor(N / B) batches is cut into ceil(M / k) groups of k
 *       consecutive batches or, as equal as can be, fewer; the q hardest of
 *       each group are trained.  An epoch is as many steps, about M q / k: so
 *       each batch of it has been through the encoder, and every sample comes
 *       once at most.
 *   with replacement (`with-replacement`)  k different batches are drawn at
 * random, the q hardest of them trained, and so on until the epoch of the
 * layout is full.
 *
 * Among M batches, ranked by falling loss, one draw of k trains the j-th with
 * the probability
 *
 *     gamma_j = sum_{l<q} C(j-1, l) C(M-j, k-l-1) / C(M, k),  sum_j gamma_j = q
 *
 * osgd-full trains the q hardest of all C(N, B) batches: an epoch of q steps.
 * It is for the few samples of synthetic experiments.
 *
 * What is chosen comes in the order of rising loss.  Where some samples of a
 * batch have no features its loss is that of the others, plus the
 * 2 log(B / known) by which more negatives would raise it; a batch without any
 * is the hardest.  Groups are spread over threads; their number does not show
 * in the result.
 *
 * Refused are top > draws, more draws than there are different batches, and for
 * osgd-full more than 2^20 batches or fewer than `top`.
 */
extern const struct select_strategy select_strategy_osgd;
extern const struct select_strategy select_strategy_osgd_full;

void select_osgd(const struct select_task *task, int64_t *ids);
void select_osgd_full(const struct select_task *task, int64_t *ids);

#endif
