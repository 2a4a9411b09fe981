#ifndef SELECT_OSGD_H
#define SELECT_OSGD_H

#include "select/strategy.h"

enum { OSGD_TOP = SELECT_OWN_PARAMS, OSGD_DRAWS, OSGD_REPLACE };

/*
 * Ordered SGD: of several random batches, train those with the largest loss
 * (Kawaguchi and Lu 2020; lib/algorithms.md 5.3).  The loss is that of
 * select/score.h with the current features.  All batches have the size of the
 * layout's largest.
 *
 * osgd, k = `draws`, q = `top`:
 *
 *   without replacement  A random partition of the samples into
 *       M = floor(N / B) batches is cut into ceil(M / k) groups of at most k
 *       consecutive batches, of equal size up to one.  The q hardest of each
 *       group are trained: an epoch has about M q / k steps, and each sample
 *       is trained at most once.
 *   with replacement (`with-replacement`)  k different random batches are
 *       drawn and the q hardest of them trained, repeatedly until the epoch of
 *       the layout is full.
 *
 * Of M batches, ranked by descending loss, one draw of k trains the j-th with
 * the probability
 *
 *     gamma_j = sum_{l<q} C(j-1, l) C(M-j, k-l-1) / C(M, k),  sum_j gamma_j = q
 *
 * osgd-full trains the q hardest of all C(N, B) batches: an epoch of q steps.
 * It is for the few samples of synthetic experiments.
 *
 * The chosen batches are in ascending order of loss.  If some samples of a
 * batch have no features, its loss is that of the others plus 2 log(B / known),
 * by which more negatives would raise it; a batch without any features is the
 * hardest.  Groups run in threads; the result does not depend on their number.
 *
 * fit() refuses top > draws, more draws than there are different batches, and
 * for osgd-full more than 2^20 batches or fewer than `top`.
 */
extern const struct select_strategy select_strategy_osgd;
extern const struct select_strategy select_strategy_osgd_full;

#endif
