#pragma once

#include "select/strategy.h"

/*
 * The hardness of a batch, and the share of each pair of its samples in it
 * (lib/algorithms.md 5.1).  With Z_ij = u_i.v_j / tau, the loss of a batch of b
 * pairs is
 *
 *     L = -1/b sum_i [ log softmax_j(Z_ij)_i + log softmax_j(Z_ji)_i ],
 *
 * the sum of both directions, with the positive in the denominator.  By
 * Jensen's inequality it is at least 1/(b (b-1)) times the sum over all pairs
 * k < l of
 *
 *     w(k,l) = s(Z_kl - Z_kk) + s(Z_lk - Z_kk) + s(Z_lk - Z_ll)
 *            + s(Z_kl - Z_ll),          s(x) = log(1 + (b - 1) e^x)
 *
 * which is symmetric and positive.  So a plan is hard if its batches contain
 * much of the weight of the complete graph.
 */

/* select_batch_work() returns the floats of scratch for select_batch_loss()
 * and select_batch_weight(). */
size_t select_batch_work(size_t b, size_t d);

/*
 * select_batch_loss() returns L.
 *   tau > 0;  ids [b] of samples with known features, b >= 1
 *   work [select_batch_work(b, d)]
 * O(b^2 d).
 */
double select_batch_loss(const struct select_features *f, double tau, size_t b,
                         const int64_t *ids, float *work);

/* select_batch_weight() returns the sum of w(k,l) over the pairs k < l of a
 * batch; `batch` is the b of s(x). */
double select_batch_weight(const struct select_features *f, double tau,
                           size_t batch, size_t b, const int64_t *ids,
                           float *work);

/*
 * select_affinity() writes w(k,l) of all pairs of n samples, with an error of
 * at most 1e-6 of the largest.  No temperature overflows: w is a sum of
 * positive parts and logarithms of numbers between 1 and 4.
 *   batch >= 2  the b of s(x): the size of the batches
 *   ids [n];  w [n,n], symmetric, zero diagonal
 * O(n^2 d) time, 2 n d floats of memory.
 */
void select_affinity(const struct select_features *f, double tau, size_t batch,
                     size_t n, const int64_t *ids, float *w);

/* How hard a plan, or part of one, is. */
struct select_score {
    double mean, least, largest; /* batch loss */
    double weight;               /* sum of w(k,l) within all batches */
};

/*
 * select_score() measures the batches [from,to) of an epoch; all their samples
 * have features.  The b of s(x) is the size of the largest batch.
 *   ids [select_layout_total()];  from < to <= steps
 */
struct select_score select_score(const struct select_features *f, double tau,
                                 const struct select_layout *layout,
                                 size_t from, size_t to, const int64_t *ids);
