#ifndef SELECT_SPECTRAL_H
#define SELECT_SPECTRAL_H

#include "select/strategy.h"

/* What is clustered, as below; and the parameters. */
enum spectral_variant {
    SPECTRAL_NJW,
    SPECTRAL_CODE,
    SPECTRAL_LITERAL,
    SPECTRAL_KMEANS
};
enum { SPECTRAL_VARIANT = SELECT_OWN, SPECTRAL_RESTARTS };

/*
 * spectral: samples that weigh much to one another (select/score.h) come into
 * one batch, by spectral clustering (Cho et al. 2023, arXiv:2307.05906;
 * lib/algorithms.md 5.2).
 *
 * An epoch begins as that of shuffle; `block` batches at a time, k of them as
 * equal as can be, are planned together.  The n samples of a block become
 * points, k-means finds k centres, and points are given to centres at the
 * least sum of distances under the condition that each batch is full
 * (num/assign.h).  Which centre becomes which batch is random.  From the
 * k-means on this is done `restarts` times; the largest mean batch loss wins.
 * The points, with D the row sums of a matrix of zero diagonal:
 *
 *     NJW      eigenvectors of the k largest eigenvalues of
 *              D^-1/2 W D^-1/2, rows scaled to unit length
 *              (Ng, Jordan and Weiss 2001)
 *     CODE     as in the code of the paper: of D^-1/2 exp(W) D^-1/2, row i
 *              divided by the square root of D_i
 *     LITERAL  as in its text: of D - W, rows scaled to unit length; nearer
 *              to the largest cut than to the smallest
 *     KMEANS   no eigenvectors: (u + v) / 2
 *
 * exp(W), up to 1e41, never overflows: D is kept as its logarithm.
 *
 * Reads tau, variant, block, restarts.  Samples without features, and those
 * that come a second time under wrap, stay where the shuffle put them.  Blocks
 * are spread over threads; their number does not show in the result.  A block
 * of 40 batches of 32 takes some twenty milliseconds and 4 n^2 bytes, for each
 * thread; time grows as n^2 k.
 */
extern const struct select_strategy select_strategy_spectral;

void select_spectral(const struct select_task *task, int64_t *ids);

/* select_spectral_fit() refuses blocks of fewer than two batches, or of more
 * than 20,000 samples. */
int select_spectral_fit(struct select_layout *layout, const double *value,
                        struct err *err);

#endif
