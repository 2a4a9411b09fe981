#ifndef EVAL_CCA_H
#define EVAL_CCA_H

#include <stddef.h>

/*
 * Canonical correlations (Hotelling 1936): directions along which the rows of x
 * and of y say the same, found without any training, to compare encoders with.
 *
 *     Cxx = 1/n sum (x - mx)(x - mx)',   Cyy and Cxy likewise
 *     (Cxx + rx I)^-1/2 Cxy (Cyy + ry I)^-1/2 = U diag(s) V',  s_1 >= s_2 ...
 *     rx = ridge tr(Cxx) / p,  ry = ridge tr(Cyy) / q
 *
 *     a_i(x) = s_i u_i' (Cxx + rx I)^-1/2 (x - mx)
 *     b_i(y) = s_i v_i' (Cyy + ry I)^-1/2 (y - my)
 *
 * within the first p and q principal directions of x and y (eval/pca.h).
 * Coordinates count by their correlation s_i, with which cosines of a(x) and
 * b(y) find the pairs that belong together best.
 */
struct eval_cca_settings {
    size_t p, q;  /* principal directions, 1 .. min(n, d) of each */
    size_t k;     /* pairs of directions, 1 .. min(p, q) */
    double ridge; /* >= 0; what has no variance is left out with 0 */
};

/* A map a() or b() of a row: y = basis (x - mean). */
struct eval_map {
    size_t d, k;
    float *basis; /* [k,d] */
    float *mean;  /* [d] */
};

/*
 * eval_cca() finds a and b for n >= 2 pairs of rows.
 *   x [n,dx], y [n,dy]   finite
 *   a, b                 out; to be given to eval_map_release()
 *   correlation [k]      s_1 .. s_k
 * O(n d min(n, d)) for each side, O(p q min(p, q)) besides.
 */
void eval_cca(size_t n, size_t dx, const float *x, size_t dy, const float *y,
              const struct eval_cca_settings *settings, struct eval_map *a,
              struct eval_map *b, float *correlation);

/* eval_map_apply() maps n rows: x [n,d], out [n,k]. */
void eval_map_apply(const struct eval_map *map, size_t n, const float *x,
                    float *out);

void eval_map_release(struct eval_map *map);

#endif
