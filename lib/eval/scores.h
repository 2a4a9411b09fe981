#ifndef LIB_EVAL_SCORES_H
#define LIB_EVAL_SCORES_H

#include <stddef.h>

/*
 * Scores of the rows of u with those of v: many at a time in f32, one at a time
 * in double.
 *
 *     cosine:  s_ij = <u_i, v_j> / (|u_i| |v_j|)     0 where a row is zero
 *     raw:     s_ij = <u_i, v_j>
 *
 * So ranks are counted in f32, and only where rounding leaves doubt in double.
 */
enum { EVAL_TILE = 512 }; /* rows and columns of scores at a time */

struct eval_vectors {
    const float *given; /* [n,d], the caller's */
    float *row;         /* [n,d] of length 1 for cosines, else given */
    double *length;     /* [n] of the given ones */
    double longest;     /* of `row` */
};

struct eval_scores {
    size_t d;
    int cosine;
    struct eval_vectors u, v;
    float *tile; /* [EVAL_TILE,EVAL_TILE] */
};

/* eval_scores_init() takes u [n,d] and v [m,d]; O((n + m) d) time, as many
 * floats and a tile.  To be released. */
void eval_scores_init(struct eval_scores *scores, size_t n, const float *u,
                      size_t m, const float *v, size_t d, int cosine);
void eval_scores_release(struct eval_scores *scores);

/* eval_score() returns s_ij in double. */
double eval_score(const struct eval_scores *scores, size_t i, size_t j);

/* eval_scores_tile() writes the f32 scores of rows from i on with columns from
 * j on to the tile, [rows,columns]. */
void eval_scores_tile(const struct eval_scores *scores, size_t i, size_t rows,
                      size_t j, size_t columns);

/* eval_tile() returns how many of n rows are in the tile from `first` on. */
size_t eval_tile(size_t n, size_t first);

/*
 * eval_score_bounds() says which f32 scores of row i of `own`, u or v, with any
 * of the other are doubtful beside `score`: those from low up to high.
 */
void eval_score_bounds(const struct eval_scores *scores,
                       const struct eval_vectors *own, size_t i, double score,
                       float *low, float *high);

/* eval_beats() returns 1 when x is larger, 1/2 when it is equal, else 0. */
double eval_beats(double x, double y);

#endif
