#ifndef EVAL_PCA_H
#define EVAL_PCA_H

#include <stddef.h>

/*
 * Principal components: the k directions along which rows differ most.
 *
 *     C = 1/n sum_r (x_r - m) (x_r - m)',   C e_i = l_i e_i,   l_1 >= l_2 ...
 *     basis_i = s e_i,   s = k / sum_i sqrt(l_i)
 *
 * so that the coordinates <basis_i, x - m> have deviations of mean 1 and keep
 * their proportions (lib/algorithms.md 8).  Signs are such that the
 * largest element of each direction is positive.
 */
struct eval_pca {
    double scale;       /* s; 0 when all rows are the same */
    double share;       /* of the variance that the k directions have */
    double first, last; /* deviations sqrt(l_1), sqrt(l_k), before scaling */
};

/*
 * eval_pca() finds them for n >= 2 rows.
 *   x      [n,d]  finite
 *   k      1 .. min(n, d)
 *   basis  [k+1,d]  the k directions, then m
 * O(n d min(n, d)) time; n d + min(n, d)^2 floats.
 */
struct eval_pca eval_pca(size_t n, size_t d, const float *x, size_t k,
                         float *basis);

#endif
