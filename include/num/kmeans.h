#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/rng.h"

/*
 * num_kmeans() finds k centres of n points, by Lloyd's method:
 *
 *     minimise  sum_i min_c |x_i - centre_c|^2
 *
 * The initial centres are points, drawn one after the other with probability
 * proportional to the squared distance from the nearest centre so far; each is
 * the best of 2 + floor(log k) draws (k-means++, Arthur and Vassilvitskii 2007,
 * greedy as in scikit-learn).  It stops when the sum of the squared moves of
 * all centres is at most 1e-4 of the points' variance (the mean over
 * dimensions), or after 300 rounds.  A centre without points moves to the point
 * that is farthest from its centre.  The result depends on the start: of
 * several calls, take the best.
 *
 *   x       [n,d], finite
 *   k       1 .. n
 *   centre  [k,d] out
 *   label   [n] out: the nearest centre of each point; may be NULL
 * Returns the sum above.  O(n d k) time per round, about n (2 d + k) floats.
 * The error of distances is at most 1e-6 of the largest.
 */
double num_kmeans(size_t n, size_t d, size_t k, const float *x, struct rng *rng,
                  float *centre, uint32_t *label);
