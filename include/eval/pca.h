#pragma once

#include <stddef.h>

/*
 * Principal components: the k directions of the largest variance of the rows.
 *
 *     C = 1/n sum_r (x_r - m) (x_r - m)',   C e_i = l_i e_i,   l_1 >= l_2 ...
 *     basis_i = s e_i,   s = k / sum_i sqrt(l_i)
 *
 * so that the standard deviations of the coordinates <basis_i, x - m> have the
 * mean 1 and their old ratios (lib/algorithms.md 8).  Signs are such that the
 * largest element of each direction is positive.
 */
struct eval_pca {
    double scale;       /* s; 0 if all rows are equal */
    double share;       /* of the variance along the k directions */
    double first, last; /* deviations sqrt(l_1), sqrt(l_k), before scaling */
};

/*
 * eval_pca() computes them for n >= 2 rows.
 *   x      [n,d]  finite
 *   k      1 .. min(n, d)
 *   basis  [k+1,d]  the k directions, then m
 * O(n d min(n, d)) time; n d + min(n, d)^2 floats.
 */
struct eval_pca eval_pca(size_t n, size_t d, const float *x, size_t k,
                         float *basis);

/*
 * Canonical correlations (Hotelling 1936): the most correlated directions of
 * the rows of x and y, without training, as a baseline for encoders.
 *
 *     Cxx = 1/n sum (x - mx)(x - mx)',   Cyy and Cxy likewise
 *     (Cxx + rx I)^-1/2 Cxy (Cyy + ry I)^-1/2 = U diag(s) V',  s_1 >= s_2 ...
 *     rx = ridge tr(Cxx) / p,  ry = ridge tr(Cyy) / q
 *
 *     a_i(x) = s_i u_i' (Cxx + rx I)^-1/2 (x - mx)
 *     b_i(y) = s_i v_i' (Cyy + ry I)^-1/2 (y - my)
 *
 * within the first p and q principal directions of x and y, as above.
 * Coordinates are weighted by their correlation s_i: cosines of a(x) and b(y)
 * then retrieve matching pairs best.
 */
struct eval_cca_settings {
    size_t p, q;  /* principal directions, 1 .. min(n, d) of each */
    size_t k;     /* pairs of directions, 1 .. min(p, q) */
    double ridge; /* >= 0; 0 drops directions without variance */
};

/* A map a() or b() of a row: y = basis (x - mean). */
struct eval_map {
    size_t d, k;
    float *basis; /* [k+1,d] the basis, then the mean */
};

/*
 * eval_cca() finds a and b for n >= 2 pairs of rows.
 *   x [n,dx], y [n,dy]   finite
 *   a, b                 out; the caller frees their bases
 *   correlation [k]      s_1 .. s_k
 * O(n d min(n, d)) for each side, plus O(p q min(p, q)).
 */
void eval_cca(size_t n, size_t dx, const float *x, size_t dy, const float *y,
              const struct eval_cca_settings *settings, struct eval_map *a,
              struct eval_map *b, float *correlation);

/* eval_map_apply() maps n rows: x [n,d], out [n,k]. */
void eval_map_apply(const struct eval_map *map, size_t n, const float *x,
                    float *out);
