#pragma once

#include <stddef.h>

/* The mixing of Markov chains, by one number x for each state: R replicas of a
 * chain with different initial states, each of T states. */

/*
 * eval_chains_rhat() returns the rank-normalised R-hat (Vehtari et al. 2021,
 * arXiv:1903.08008): the potential scale reduction of the halves of all chains
 * (Gelman et al. 2013, Bayesian Data Analysis, 11.4), with W the mean of the
 * variances within the 2 R halves of n states, and B / n the variance of their
 * means,
 *
 *     R-hat = sqrt(((n - 1) / n W + B / n) / W),
 *
 * once of the normal quantiles of the ranks of x, and once of those of
 * |x - median|, which sees chains of different width; the larger one.  Near 1
 * if chains no longer depend on their initial states; without any variance
 * within halves, 1 if all are equal, and INFINITY if they differ. x
 * [replicas,states], states >= 4 O(R T log (R T)) time.
 */
double eval_chains_rhat(size_t replicas, size_t states, const double *x);

/* eval_chains_lagged() returns the autocorrelation at a lag below `states`, of
 * x minus its mean over all states and replicas; 0 without variance. */
double eval_chains_lagged(size_t replicas, size_t states, const double *x,
                          size_t lag);

/* eval_chains_distance() returns the distance in total variation of two
 * distributions, 1/2 sum |p - q|, after scaling each to the sum 1. */
double eval_chains_distance(size_t n, const float *p, const float *q);

/* eval_chains_noise() returns the approximate distance between p and the
 * frequencies of so many independent draws from it, 1/2 sum of min(sqrt(2 p /
 * (pi draws)), 2 p). */
double eval_chains_noise(size_t n, const float *p, double draws);
