#ifndef SELECT_SPECTRAL_H
#define SELECT_SPECTRAL_H

#include "select/strategy.h"
#include "util/rng.h"

/* Which points are clustered, see below; and the parameters. */
enum spectral_variant {
    SPECTRAL_NJW,
    SPECTRAL_CODE,
    SPECTRAL_LITERAL,
    SPECTRAL_KMEANS
};
enum { SPECTRAL_VARIANT = SELECT_OWN_PARAMS, SPECTRAL_RESTARTS };

/*
 * spectral: puts samples with large weights between them (select/score.h) into
 * one batch, by spectral clustering (Cho et al. 2023, arXiv:2307.05906;
 * lib/algorithms.md 5.2).
 *
 * An epoch begins as a shuffle and is cut into blocks of equal size up to one,
 * of at most `block` batches.  For each block of k batches, its n samples are
 * mapped to points, k-means finds k centres, and points are assigned to centres
 * with the least sum of distances such that each batch is full (num/assign.h).
 * Which centre becomes which batch is random.  k-means and assignment are
 * repeated `restarts` times; the largest mean batch loss wins.  The points,
 * with D the row sums of a matrix with zero diagonal:
 *
 *     NJW      eigenvectors of the k largest eigenvalues of
 *              D^-1/2 W D^-1/2, rows scaled to unit length
 *              (Ng, Jordan and Weiss 2001)
 *     CODE     as in the code of the paper: of D^-1/2 exp(W) D^-1/2, row i
 *              divided by the square root of D_i
 *     LITERAL  as in its text: of D - W, rows scaled to unit length; closer to
 *              the largest cut than to the smallest
 *     KMEANS   no eigenvectors: (u + v) / 2
 *
 * exp(W), up to 1e41, never overflows: D is stored as its logarithm.
 *
 * Reads tau, variant, block, restarts.  Samples without features, and the
 * second occurrence of samples with wrap, do not move from their place in the
 * shuffle.  Blocks run in threads; the result does not depend on their number.
 * A block of 40 batches of 32 takes about twenty milliseconds and 4 n^2 bytes
 * per thread; time grows as n^2 k.
 *
 * fit() refuses blocks of fewer than two batches, or of more than 20,000
 * samples.
 */
extern const struct select_strategy select_strategy_spectral;

/* select_embed_dimension() returns the dimension d of the points of
 * select_embed() for k batches. */
size_t select_embed_dimension(const struct select_task *task, size_t k);

/*
 * select_embed() maps samples to points by the variant.
 *   k    2 .. n
 *   ids  [n] with known features
 *   x    [n,d]
 */
void select_embed(const struct select_task *task, size_t n, size_t k,
                  const int64_t *ids, struct rng *rng, float *x);

#endif
