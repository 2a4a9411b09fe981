#pragma once

#include "sample/step.h"

/*
 * EMC2: negatives by Metropolis-Hastings.  Markov chains walk over the rows of
 * a batch; each continues from its state after the last visit.
 *
 * Row r = view * b + i is a view of image i.  Its chain walks over the rows of
 * the other images.  Its target distribution is
 *
 *     p_r(c) ~ exp(beta s_rc),    c mod b != r mod b.
 *
 * A move from c to c' is accepted with probability
 *
 *     min(1, exp(beta (s_rc' - s_rc))).
 *
 * A visit makes R proposals.  After each proposal k = 0 .. R-1 with k >= burn
 * the state is recorded, and
 *
 *     w_rc = (times recorded at c) / (R - burn)
 *
 * replaces the softmax over negatives: the gradient on s_rc is
 * beta/n (w_rc - [c is r's positive]).  Yau et al. 2024, arXiv:2404.10575,
 * algorithm 1; lib/algorithms.md 3.6 and 4.1.
 */

/* Which rows a visit proposes, and to which chain.  Distances are in total
 * variation from the target; N is the number of images. */
enum sample_proposals {
    /* Each of the R = v (b - 1) rows of other images once, in random order.
     * Each (image, view) has a chain.  If the views of an image are similar, a
     * state is almost retried, which flattens the distribution of small
     * batches: at N = 100, b = 8 its distance is .006 for unrelated views, .076
     * for identical ones (`once`: .005); at N = 24, b = 4, with views as
     * similar as augmentations are, .06 (`once`: .01). */
    SAMPLE_ROW,
    /* Each of the R = b - 1 other images once, in a random view.  Each (image,
     * view) has a chain.  No bias if the batch is a small share of the data.
     * In a large batch the state's image may be among the proposals, and states
     * are a little too similar: E[s] by .009 for b = 8 of 24, .002 for 8 of
     * 100, 0 for 8 of 400; chi-square distance .0015 for 8 of 24. */
    SAMPLE_ONCE,
    /* As in the reference code: one chain for each image, which the rows of its
     * views move in turn, each by the R = v (b - 1) rows of other images in the
     * order of the batch.  A visit tries a state v v times, which flattens the
     * distribution of small batches (3.7): distance .095 at N = 100, b = 8. */
    SAMPLE_ALL4,
    /* Each of the R = b - 1 rows of other images in the other view once, in
     * random order.  Each (image, view) has a chain.  It is for two views of
     * different kinds, such as image and caption, where a row is compared only
     * with rows of the other kind.  If view 0 is an image and view 1 one of its
     * K captions, view_of is 0 for the image and 1 + k for caption k: each
     * image has a chain over captions, and each caption has a chain over
     * images.  The targets are
     *     p_i(j, k) ~ exp(beta s)  over the captions of other images,
     *     p_ik(j)   ~ exp(beta s)  over the other images. */
    SAMPLE_CROSS,
    /* No proposals: the next state is drawn from the softmax over the other
     * images of the batch and two views of the state's image; this softmax is
     * also the row's w (lib/sample/exact.h).  No bias at any b; for batches of
     * two views. */
    SAMPLE_EXACT,
    /* The same across two views: the softmax is over the rows of the other
     * images in the other view, and the state itself. */
    SAMPLE_EXACT_CROSS
};

/* How the state that a chain has before a visit is scored. */
enum sample_scores {
    /* Under the current parameters: from its row in the batch, else from its
     * extra column.  Without either the chain starts cold. */
    SAMPLE_FRESH,
    /* By its score when it was accepted, as in the reference code.  The state
     * counts as outside of the batch even if it is in it, and is not recorded:
     * rows of w sum to less than 1. */
    SAMPLE_STALE,
    /* Not at all: every visit starts cold, so it accepts the first proposal.
     * Then w is harder than the softmax (3.7). */
    SAMPLE_RESET
};
#define SAMPLE_SCORES "fresh|stale|reset"

struct sample_emc2_settings {
    enum sample_proposals proposals;
    enum sample_scores scores;
    size_t burn;   /* proposals not recorded, < R */
    uint64_t seed; /* random numbers: key is seed, epoch, step and row
                      (RNG_NEGATIVES), counter is the proposal */
};

/* Statistics of one visit of a batch. */
struct sample_moves {
    double accepted; /* share of all proposals; exact draws: share of the
                        chains that moved */
    size_t moved;    /* chains that changed their state */
    size_t cold;     /* chains that started cold */
};

/*
 * sample_emc2() moves the chains of a step.  If no column is a chain's state, a
 * new view of the state's image replaces it: an extra with extra.view < 0 or
 * without extra.view; where each epoch makes new views, also the row of that
 * image in the same slot.  Exact draws have no such replacement.
 *   step  all but dim and embeddings; b >= 2, v b <= 65536
 *   s [n,columns]  similarities; the columns of a row's own image are not read
 *   state [n]  in: the state of each row's chain; out: after the visit.  The
 *              state of an `all4` chain is in each row of its image, in and
 *              out; not for fixed views
 *   score [n]  in: beta s of the state when it was accepted, `stale` only;
 *              out: beta s of the new state.  NULL is allowed except for
 *              `stale`
 *   w [n,columns]  out: not negative; rows sum to 1, except for `stale`; zero
 *              at the columns of the row's own image
 * O(n R) time, exact O(n columns).  No beta overflows: it computes in
 * logarithms.
 */
struct sample_moves sample_emc2(const struct sample_emc2_settings *how,
                                const struct batch *step, const float *s,
                                struct sample_state *state, float *score,
                                float *w, struct arena *scratch);

/* sample_emc2_length() returns R for v views of b images; the usual burn-in is
 * R / 2. */
size_t sample_emc2_length(enum sample_proposals proposals, size_t v, size_t b);
