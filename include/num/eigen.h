#pragma once

#include <stddef.h>

#include "util/rng.h"

/*
 * num_eigen() finds the k largest eigenvalues of a symmetric matrix and their
 * eigenvectors,
 *
 *     A x_i = l_i x_i,    l_1 >= l_2 >= ... >= l_k,    x_i.x_j = [i = j]
 *
 * such that |A x_i - l_i x_i| <= tol |A|.  It uses Lanczos' method with blocks
 * and full orthogonalisation, restarted with the best vectors so far (Golub and
 * Underwood 1977; Wu and Simon 2000).  Blocks, because equal samples cause
 * equal eigenvalues, and because a product with a block costs little more than
 * one with a vector.  If that does not converge, and for small matrices,
 * OpenBLAS's LAPACK solves the whole problem, with the threads of
 * num_threads().
 *
 *   a      [n,n]  symmetric, finite
 *   k      1 .. n
 *   tol    > 0; in f32 not below about 1e-6
 *   rng    for the start: the result is a function of A, k, tol and this
 *          stream, for any number of threads
 *   value  [k];  vector [k,n], one eigenvector per row, its sign arbitrary
 *
 * O(n^2 k) time if it converges as usual, O(n^3) at worst; about 4 n k floats
 * of memory, n^2 more for LAPACK.
 */
void num_eigen(size_t n, size_t k, const float *a, double tol, struct rng *rng,
               float *value, float *vector);
