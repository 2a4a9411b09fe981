#ifndef NUM_KMEANS_H
#define NUM_KMEANS_H

#include <stddef.h>
#include <stdint.h>

#include "util/rng.h"

/*
 * num_kmeans() looks for k centres near n points, by Lloyd's method:
 *
 *     minimise  sum_i min_c |x_i - centre_c|^2
 *
 * It begins with points that are drawn one after the other with probability
 * proportional to the squared distance from the nearest of those before; each
 * is the best of 2 + floor(log k) draws (k-means++, Arthur and Vassilvitskii
 * 2007, greedy as in scikit-learn).  It ends when the squared moves of all
 * centres together are at most 1e-4 of the points' variance, which is the mean
 * over dimensions, or after 300 rounds.  A centre without points goes to the
 * point that is farthest from its own.  Where this ends depends on where it
 * began: of several calls, take the best.
 *
 *   x       [n,d], finite
 *   k       1 .. n
 *   centre  [k,d] out
 *   label   [n] out: the nearest centre of each point; may be NULL
 * Returns the sum above.  O(n d k) time a round, about n (2 d + k) floats.
 * Distances are right to 1e-6 of the largest.
 */
double num_kmeans(size_t n, size_t d, size_t k, const float *x, struct rng *rng,
                  float *centre, uint32_t *label);

#endif
