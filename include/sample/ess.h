#pragma once

#include <stddef.h>

/*
 * sample_ess() estimates the effective sample size of a stretch of a Markov
 * chain: how many independent draws it is worth,
 *
 *     m / (1 + 2 sum_{k>=1} rho_k),
 *     rho_k = sum_t (x_t - mean)(x_{t+k} - mean) / sum_t (x_t - mean)^2,
 *
 * with the sum over pairs rho_2j + rho_2j+1 up to the first that is not
 * positive (Geyer 1992, the initial positive sequence).  The result is in 1 ..
 * m; 1 for a chain that never moved.
 *   x [m]  a number for the state after each move, m >= 1
 * O(m k) time for k lags in the sum.
 */
double sample_ess(size_t m, const double *x);
