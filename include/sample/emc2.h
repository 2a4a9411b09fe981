#ifndef SAMPLE_EMC2_H
#define SAMPLE_EMC2_H

#include <stddef.h>
#include <stdint.h>

/*
 * EMC2: negatives by Metropolis-Hastings, one Markov chain per row of a batch.
 *
 * Row r = view * b + i is a view of image i.  Its chain walks over the rows of
 * the other images and has the law
 *
 *     p_r(c) ~ exp(beta s_rc),    c mod b != r mod b
 *
 * as its target.  In one visit each of the R = v (b - 1) rows of other images
 * is proposed once, in random order; c' is accepted from c with probability
 *
 *     min(1, exp(beta (s_rc' - s_rc)))
 *
 * both scores under the current parameters.  After each proposal k = 0 .. R-1
 * with k >= burn the state is recorded, and
 *
 *     w_rc = (times recorded at c) / (R - burn)
 *
 * takes the place of the softmax over negatives: the gradient on s_rc is
 * beta/n (w_rc - [c is r's positive]).  Yau et al. 2024, arXiv:2404.10575,
 * algorithm 1; algorithms.md 2.4 and appendix B.2, with a chain of its own
 * for each (image, view): its `row` proposals.
 *
 * A chain goes on from where the last visit of its (image, view) left it.
 * Here that is so when the state is in the batch again, scored afresh.  A
 * state that is not in the batch has no embedding to score it with: it counts
 * as none, and the chain starts cold, which is to take the first proposal.
 * With batches much smaller than the data set most visits are cold, and then
 * w is harder than the softmax (algorithms.md 3.7).
 */

/* A state: sample and view, or {-1, -1} for none. */
struct sample_state {
    int64_t id, view;
};

/* What one visit of a batch did. */
struct sample_moves {
    double accepted; /* share of the v b R proposals that was accepted */
    size_t moved;    /* chains that ended elsewhere than they began */
};

/*
 * sample_emc2() moves the chains of a batch.
 *   v >= 1, b >= 2  views and images; n = v b <= 65536 rows
 *   ids   [b]     the images, >= 0; one that comes twice counts as two
 *   s     [n,n]   similarities of all rows; the columns of a row's own image
 *                 are not looked at
 *   beta >= 0     inverse temperature, finite
 *   burn          proposals before recording starts, < R; see
 *                 sample_emc2_burn()
 *   seed, epoch, step   the random numbers are keyed by these and the row
 *                 (RNG_NEGATIVES), and counted by proposal; epoch < 2^32,
 *                 step < 2^48
 *   state [n]     in: the state of each row's chain, view < v; out: after the
 *                 visit, always a row of the batch
 *   w     [n,n]   out: rows sum to 1, zero at the columns of the own image
 *   order [n]     scratch
 * O(n R) time; no overflow for any beta: all is done with logarithms.
 */
struct sample_moves sample_emc2(size_t v, size_t b, const int64_t *ids,
                                const float *s, double beta, size_t burn,
                                uint64_t seed, uint64_t epoch, uint64_t step,
                                struct sample_state *state, float *w,
                                size_t *order);

/* sample_emc2_burn() returns the usual burn-in, R / 2: with two views b - 1. */
size_t sample_emc2_burn(size_t v, size_t b);

#endif
