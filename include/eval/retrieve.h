#ifndef EVAL_RETRIEVE_H
#define EVAL_RETRIEVE_H

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

/*
 * eval_answers_join() replaces each answer of a query by its answers in `next`.
 * Example: `answers` has the equal captions of a caption, and `next` the images
 * of a caption; the result has all images with an equal caption.
 */
void eval_answers_join(struct eval_answers *answers,
                       const struct eval_answers *next);

void eval_answers_release(struct eval_answers *answers);

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
                       const float *u, const float *v, double *rank);

/* eval_answers_chance() returns the expected share of queries found at 1 in a
 * random order of m candidates, among the queries with an answer. */
double eval_answers_chance(const struct eval_answers *answers, size_t m);

enum eval_similarity { EVAL_PAIR_COSINE, EVAL_PAIR_RAW };

/*
 * eval_retrieve() ranks pairs in both directions; row i of u and row i of v are
 * a pair.
 *   u, v      [n,d]  finite; rows are zero or of length 1e-15 .. 1e15
 *   forward   [n]    rank of v_i for u_i among all of v
 *   backward  [n]    rank of u_i for v_i among all of u
 * Cost and exactness as of eval_answers_rank(), for each direction.
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

/*
 * Zero-shot classification: an image gets the class with the nearest text by
 * cosine (Radford et al. 2021, arXiv:2103.00020, 3.1.2).  It is right at k if
 * the rank of the text of its class is at most k, so that equal texts predict
 * no class.
 */
struct eval_hits {
    size_t images;        /* of the class */
    size_t at1, at3, at5; /* number of them right at 1, 3, 5 */
};

/*
 * eval_zero_shot() counts them for each class.
 *   n, x [n,d]       images; label [n] their classes, 0 .. classes - 1
 *   m, v [m,d]       texts; class [m] of each, no two of one class
 *   hits [classes]   overwritten
 * Images of a class without a text are never right.  Rows are finite, and zero
 * or of length 1e-15 .. 1e15.  Cost and exactness as of eval_answers_rank().
 */
void eval_zero_shot(size_t d, size_t n, const float *x, const int64_t *label,
                    size_t m, const float *v, const int64_t *class,
                    size_t classes, struct eval_hits *hits);

#endif
