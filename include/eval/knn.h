#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The k nearest neighbours, exactly.
 *
 *     cosine:     s(q, r) = <q, r> / (|q| |r|)     0 if a row is zero
 *     Euclidean:  s(q, r) = -|q - r|^2
 *
 * A larger s is nearer; of equal ones the lower id is first.  Candidates are
 * found with f32 matrix products, or with faster ones, and ranked in double:
 * every reference that rounding could have misplaced is checked again, so the
 * answer is that of the formula in double and does not depend on processor and
 * number of threads.
 */
enum eval_metric { EVAL_COSINE, EVAL_EUCLIDEAN };

/* No query is itself a reference. */
#define EVAL_NO_SELF SIZE_MAX

struct eval_knn;

/*
 * eval_knn_new() prepares n references.
 *   ref  [n,d]  not copied: it must outlive the result.  Finite; rows are zero
 *               or of length 1e-15 .. 1e15.
 *   1 <= n < 2^32, d >= 1
 * O(n d) time, O(n) memory.
 */
struct eval_knn *eval_knn_new(size_t n, size_t d, const float *ref,
                              enum eval_metric metric);
void eval_knn_free(struct eval_knn *knn);

/*
 * eval_knn_find() ranks the k nearest references of each of m queries.
 *   query  [m,d]  as the references
 *   k             1 .. n, or n - 1 if queries are excluded
 *   self          query i is reference self + i, which is excluded;
 *                 EVAL_NO_SELF if the sets are different
 *   ids    [m,k]  nearest first
 *   score  [m,k]  s of each; may be NULL
 * O(m n d) time, shared among the threads; O(k + d) memory a query for 2,048
 * queries at a time, plus a tile of scores of 2 MB.
 */
void eval_knn_find(const struct eval_knn *knn, size_t m, const float *query,
                   size_t k, size_t self, uint32_t *ids, double *score);

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
