#pragma once

#include <stddef.h>

/*
 * A map of rows on the plane that shows near rows near each other: t-SNE (van
 * der Maaten and Hinton, JMLR 9, 2008), with joint repulsion of far groups of
 * points (Barnes-Hut; van der Maaten, JMLR 15, 2014).
 *
 *     p(j|i) = exp(-b_i |x_i - x_j|^2) / sum over the 3u nearest of i,
 *              b_i such that -sum_j p(j|i) log p(j|i) = log u
 *     p_ij   = (p(j|i) + p(i|j)) / 2n
 *     q_ij   = 1 / (1 + |y_i - y_j|^2) / Z,   Z = sum of all such, i != j
 *     KL     = sum_ij p_ij log(p_ij / q_ij)
 *
 * KL falls by gradient descent with momentum and a gain for each number. p_ij
 * are 12 times as large in the first EVAL_TSNE_EARLY steps, with the rate n /
 * 48: a higher one scatters the points, and a map would not stay near its
 * initial one.  Then the rate is n / 12, or, for fewer than 600 rows, 50 or n /
 * 4. u is the perplexity, roughly the number of neighbours that count.
 *
 * A map that starts from an earlier one has the same bits for any number of
 * threads; one that starts from principal components, only for the same number
 * (num/threads.h).  Not thread-safe.
 */
enum { EVAL_TSNE_EARLY = 250 };

struct eval_tsne;

/*
 * eval_tsne_new() finds the neighbours of n rows and places all points close to
 * (0, 0): along the two principal components, or as in an earlier map, so that
 * the maps of several checkpoints make an animation.
 *   x           [n,d]  finite; no longer needed afterwards
 *   perplexity  u >= 1, with 3u <= n - 1
 *   start       [n,2]  an earlier map; or NULL
 * O(n^2 d) time by matrix products, O(n u) memory.
 */
struct eval_tsne *eval_tsne_new(size_t n, size_t d, const float *x,
                                double perplexity, const float *start);
void eval_tsne_free(struct eval_tsne *map);

/* eval_tsne_step() moves all points once.  O(n (log n + u)). */
void eval_tsne_step(struct eval_tsne *map);

/* eval_tsne_points() returns the points, [n,2], with mean (0, 0); the map owns
 * them. */
const float *eval_tsne_points(const struct eval_tsne *map);

/* eval_tsne_divergence() returns KL as above: over the 3u nearest, which is
 * more than over all pairs, and with the approximate Z. */
double eval_tsne_divergence(struct eval_tsne *map);

/*
 * eval_tsne_turn() rotates a map y about its mean and, if that is better,
 * reflects it, to minimise the sum of |y_i - onto_i|^2, each minus its mean.
 *   onto, y  [n,2]
 */
void eval_tsne_turn(size_t n, const float *onto, float *y);
