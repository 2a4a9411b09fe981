#ifndef EVAL_RETRIEVE_H
#define EVAL_RETRIEVE_H

#include <stddef.h>

/*
 * Pair retrieval: does row i of u find row i among all rows of v?
 *
 *     cosine:  s_ij = <u_i, v_j> / (|u_i| |v_j|)     0 where a row is zero
 *     raw:     s_ij = <u_i, v_j>                     favours long rows
 *
 *     rank_i = 1 + #{j: s_ij > s_ii} + #{j != i: s_ij = s_ii} / 2
 *
 * so that rows which are all the same find nothing: their rank is that of a
 * draw, (n + 1) / 2 (lib/algorithms.md 8).
 */
enum eval_similarity { EVAL_PAIR_COSINE, EVAL_PAIR_RAW };

/*
 * eval_retrieve() ranks in both directions.
 *   u, v      [n,d]  finite; rows are zero or of length 1e-15 .. 1e15
 *   forward   [n]    rank of v_i for u_i among all of v
 *   backward  [n]    rank of u_i for v_i among all of u
 * Scores are f32, but scores within rounding error are compared in double:
 * ranks are those of the formula in double and do not depend on the number of
 * threads.  O(n^2 d) time; 2 n d floats, and a tile of scores of 1 MB.
 */
void eval_retrieve(size_t n, size_t d, const float *u, const float *v,
                   enum eval_similarity similarity, double *forward,
                   double *backward);

/* Statistics of ranks. */
struct eval_ranks {
    double at1, at5, at10; /* share of ranks <= 1, 5, 10 */
    double reciprocal;     /* mean of 1 / rank */
    double mean, median;
};

/* eval_ranks() returns those of rank [n], n >= 1, which it sorts. */
struct eval_ranks eval_ranks(size_t n, double *rank);

#endif
