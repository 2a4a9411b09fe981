#ifndef SAMPLE_ESS_H
#define SAMPLE_ESS_H

#include <stddef.h>

/*
 * sample_ess() estimates how many independent draws a stretch of a Markov
 * chain is worth:
 *
 *     m / (1 + 2 sum_{k>=1} rho_k),
 *     rho_k = sum_t (x_t - mean)(x_{t+k} - mean) / sum_t (x_t - mean)^2,
 *
 * summed over pairs rho_2j + rho_2j+1 while these are positive (Geyer 1992, the
 * initial positive sequence).  A chain that never moved is worth 1; never less
 * than that, nor more than m.
 *   x [m]  a number of the state after each move, m >= 1
 * O(m k) time for k lags that count.
 */
double sample_ess(size_t m, const double *x);

#endif
