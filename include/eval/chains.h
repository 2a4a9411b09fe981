#ifndef EVAL_CHAINS_H
#define EVAL_CHAINS_H

#include <stddef.h>

/*
 * How well Markov chains mix, by one number x for each state: R replicas of a
 * chain that began in different states, each of T states.
 */

/*
 * eval_chains_rhat() returns the potential scale reduction of the halves of all
 * chains (Gelman et al. 2013, Bayesian Data Analysis, 11.4): with W the mean of
 * the variances within the 2 R halves of n states, and B / n the variance of
 * their means,
 *
 *     R-hat = sqrt(((n - 1) / n W + B / n) / W),
 *
 * near 1 where chains have forgotten where they began; 1 where nothing moves
 * and all are alike, INFINITY where nothing moves and they differ.
 *   x  [replicas,states], states >= 4
 */
double eval_chains_rhat(size_t replicas, size_t states, const double *x);

/* eval_chains_lagged() returns the autocorrelation at a lag below `states`, of
 * x minus its mean over all states and replicas; 0 where nothing moves. */
double eval_chains_lagged(size_t replicas, size_t states, const double *x,
                          size_t lag);

/* eval_chains_distance() returns the distance in total variation of two
 * distributions, 1/2 sum |p - q|, each made to sum to 1. */
double eval_chains_distance(size_t n, const float *p, const float *q);

/* eval_chains_noise() returns about how large that distance is between p and
 * the frequencies of so many independent draws from it, 1/2 sum of
 * min(sqrt(2 p / (pi draws)), 2 p). */
double eval_chains_noise(size_t n, const float *p, double draws);

#endif
