#ifndef EVAL_VOTE_H
#define EVAL_VOTE_H

#include <stddef.h>
#include <stdint.h>

/*
 * eval_vote() chooses a label by the votes of k neighbours: each counts 1, or,
 * with temperature > 0, exp(s / temperature) (Wu et al. 2018, arXiv:1805.01978,
 * with 0.07 for cosines).  A tie goes to the smallest label.
 *   ids, score  [k]  one row of eval_knn_find(); score is not read if
 *                    temperature = 0
 *   labels      [n]  of the references, 0 <= label < classes
 *   votes       [classes]  scratch
 * Returns the label.
 */
size_t eval_vote(size_t k, const uint32_t *ids, const double *score,
                 const int64_t *labels, size_t classes, double temperature,
                 double *votes);

/*
 * eval_vote_count() counts the queries with the right vote, for several k at
 * once.
 *   ids, score  [m,most]  from eval_knn_find() with k = most
 *   want        [m]       the queries' labels
 *   k           [choices] each 1 .. most
 *   right       [choices] the counts are added
 */
void eval_vote_count(size_t m, size_t most, const uint32_t *ids,
                     const double *score, const int64_t *want,
                     const int64_t *labels, size_t classes, double temperature,
                     size_t choices, const size_t *k, size_t *right);

#endif
