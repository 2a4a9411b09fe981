#ifndef NUM_EIGEN_H
#define NUM_EIGEN_H

#include <stddef.h>

#include "util/rng.h"

/*
 * num_eigen() finds the k largest eigenvalues of a symmetric matrix and their
 * eigenvectors,
 *
 *     A x_i = l_i x_i,    l_1 >= l_2 >= ... >= l_k,    x_i.x_j = [i = j]
 *
 * so well that |A x_i - l_i x_i| <= tol |A|.  By Lanczos' method with
 * blocks, all vectors kept orthogonal, restarted with the best vectors so
 * far (Golub and Underwood 1977; Wu and Simon 2000): blocks because equal
 * eigenvalues come with equal samples, and because a product with a block costs
 * little more than one with a vector.  Where that does not converge, and for
 * small matrices, the whole problem is solved by OpenBLAS's LAPACK, on as many
 * threads as num_threads() has set.
 *
 *   a      [n,n]  symmetric, finite
 *   k      1 .. n
 *   tol    > 0; f32 allows no less than about 1e-6
 *   rng    where the start comes from: the result is a function of A, k, tol
 *          and this stream, whatever the number of threads
 *   value  [k];  vector [k,n], one eigenvector a row, its sign arbitrary
 *
 * O(n^2 k) time where it converges as it mostly does, O(n^3) at worst; about
 * 4 n k floats of memory, n^2 more for LAPACK.
 */
void num_eigen(size_t n, size_t k, const float *a, double tol, struct rng *rng,
               float *value, float *vector);

#endif
