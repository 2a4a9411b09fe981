#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Retrieval: ranks of the right answers of queries among all candidates.  A
 * query may have several: an image its captions, a caption its image.
 *
 *     cosine:  s_ij = <u_i, v_j> / (|u_i| |v_j|)     0 if a row is zero
 *     raw:     s_ij = <u_i, v_j>                     favours long rows
 *
 *     best_i = max_{j in O_i} s_ij                   O_i: the right answers
 *     rank_i = 1 + #{j not in O_i: s_ij > best_i}
 *                + #{j not in O_i: s_ij = best_i} / 2
 *
 * so a query is found at k if one of its answers is among the first k, and a
 * tie counts half: equal rows get the expected rank of a random order
 * (lib/algorithms.md 8).
 */
struct eval_answers {
    size_t n;       /* queries */
    size_t *offset; /* [n + 1]: the answers of query i are at offset[i] to below
                       offset[i + 1] of j; a query may have none */
    size_t *j;      /* [offset[n]] candidates, rising for each query */
};

/*
 * eval_answers_by_key() returns the answers of n queries among m candidates:
 * all candidates with the query's key.  The caller releases them.
 *   query [n], candidate [m]  their keys, any numbers
 * O((n + m) log m + answers) time.
 */
struct eval_answers eval_answers_by_key(size_t n, const int64_t *query,
                                        size_t m, const int64_t *candidate);

/* eval_answers_join() replaces each answer of a query by its answers in `next`.
 * Example: `answers` has the equal captions of a caption, and `next` the images
 * of a caption; the result has all images with an equal caption. */
void eval_answers_join(struct eval_answers *answers,
                       const struct eval_answers *next);

void eval_answers_release(struct eval_answers *answers);

enum eval_similarity { EVAL_PAIR_COSINE, EVAL_PAIR_RAW };

/*
 * eval_answers_rank() ranks the answers.
 *   u [n,d], v [m,d]  queries and candidates, finite; rows are zero or of
 *                     length 1e-15 .. 1e15
 *   rank [n]          out; 0 for queries without an answer
 * Scores are f32, but those within rounding error of the best are compared in
 * double: ranks are those of the formula in double, and do not depend on the
 * number of threads.  O(n m d) time; (n + m) d floats and 1 MB.
 */
void eval_answers_rank(const struct eval_answers *answers, size_t m, size_t d,
                       const float *u, const float *v,
                       enum eval_similarity similarity, double *rank);

/* eval_answers_chance() returns the expected share of queries found at 1 in a
 * random order of m candidates, among the queries with an answer. */
double eval_answers_chance(const struct eval_answers *answers, size_t m);

/* Statistics of ranks. */
struct eval_ranks {
    double at1, at5, at10; /* share of ranks <= 1, 5, 10 */
    double reciprocal;     /* mean of 1 / rank */
    double mean, median;
};

/* eval_ranks() returns those of rank [n], n >= 1, which it sorts. */
struct eval_ranks eval_ranks(size_t n, double *rank);
