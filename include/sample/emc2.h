#ifndef SAMPLE_EMC2_H
#define SAMPLE_EMC2_H

#include "sample/step.h"

/*
 * EMC2: negatives by Metropolis-Hastings, Markov chains over the rows of a
 * batch that go on from where the last visit left them.
 *
 * Row r = view * b + i is a view of image i.  Its chain walks over the rows of
 * the other images and has the distribution
 *
 *     p_r(c) ~ exp(beta s_rc),    c mod b != r mod b
 *
 * as its target: c' is accepted from c with probability
 *
 *     min(1, exp(beta (s_rc' - s_rc))).
 *
 * In a visit R proposals are made.  After each k = 0 .. R-1 with k >= burn the
 * state is recorded, and
 *
 *     w_rc = (times recorded at c) / (R - burn)
 *
 * takes the place of the softmax over negatives: the gradient on s_rc is
 * beta/n (w_rc - [c is r's positive]).  Yau et al. 2024, arXiv:2404.10575,
 * algorithm 1; lib/algorithms.md 3.6 and 4.1.
 */

/* Which rows are proposed in a visit, and which chain they are proposed to. */
enum sample_proposals {
    /* Each of the R = v (b - 1) rows of other images once, in random order, to
     * a chain of the row's own: one for each (image, view).  Where the views of
     * an image are alike a state is as good as retried, which flattens the
     * distribution of small batches: at N = 100, b = 8 it is .006 from the
     * target in total variation with views that have nothing in common, .076
     * with views that are the same vector, and `once` .005 then; at N = 24, b =
     * 4 .06 with views as alike as augmentations are, `once` .01. */
    SAMPLE_ROW,
    /* Each of the R = b - 1 other images once, one of its views by chance, to
     * a chain of the row's own: no bias where the batch is a small share of the
     * data.  In a large one the state's image may be among the proposals, and
     * states are a little too similar, E[s] by .009 for b = 8 of 24, .002 for 8
     * of 100, 0 for 8 of 400: chi-square distance .0015 for 8 of 24. */
    SAMPLE_ONCE,
    /* As the reference does it: one chain for each image, which the rows of
     * its views move in turn, each by the R = v (b - 1) rows of other images in
     * the order of the batch.  A state is retried v v times a visit, which
     * flattens the distribution of small batches (3.7): total variation .095 at
     * N = 100, b = 8. */
    SAMPLE_ALL4,
    /* Each of the R = b - 1 rows of other images in the other view once, in
     * random order, to a chain of the row's own: for two views of two kinds,
     * where a row meets those of the other kind alone.  Where view 0 is an
     * image and view 1 one of its K captions, view_of has 0 for the image
     * and 1 + k for caption k: then each image has a chain over captions, and
     * each caption one over images.  With N images the targets are
     *     p_i(j, k) ~ exp(beta s)  over the captions of other images,
     *     p_ik(j)   ~ exp(beta s)  over the other images. */
    SAMPLE_CROSS,
    /* None is proposed: the next state is drawn from the softmax over the other
     * images of the batch and two views of the image where the chain stands;
     * this softmax is also the row's w (lib/sample/exact.h).  No bias at any b;
     * for batches of two views. */
    SAMPLE_EXACT,
    /* The same where a row meets those of the other view alone: over the rows
     * of the other images in the other view and the state itself. */
    SAMPLE_EXACT_CROSS
};

/* Which score counts for the state that a chain has before a visit. */
enum sample_scores {
    /* Its score under the current parameters: from its row in the batch, else
     * from its extra column.  Without either the chain starts cold. */
    SAMPLE_FRESH,
    /* Its score when it was accepted, as the reference does it.  It
     * counts as outside of the batch even where it is not, and what is
     * recorded there is dropped: rows of w sum to less than 1. */
    SAMPLE_STALE,
    /* None: every visit starts cold, that is, takes the first proposal.  w is
     * harder than the softmax then (3.7). */
    SAMPLE_RESET
};
#define SAMPLE_SCORES "fresh|stale|reset"

struct sample_emc2_how {
    enum sample_proposals proposals;
    enum sample_scores scores;
    size_t burn;   /* proposals not recorded, < R */
    uint64_t seed; /* random numbers are keyed by seed, epoch, step and row
                      (RNG_NEGATIVES), and counted by proposal */
};

/* What one visit of a batch did. */
struct sample_moves {
    double accepted; /* share of all proposals; of exact draws, share of the
                        chains that moved */
    size_t moved;    /* chains that ended elsewhere than they began */
    size_t cold;     /* chains that started cold */
};

/*
 * sample_emc2() moves the chains of a step.  Where no column is a chain's
 * state, a new view of the state's image is taken for it: an extra with
 * extra_view < 0 or without extra_view; where views are drawn anew, also the
 * row of that image in the same slot.  Exact draws take none for it.
 *   step  all but dim and embeddings; b >= 2, v b <= 65536
 *   s [n,columns]  similarities; the columns of a row's own image are not
 *              looked at
 *   state [n]  in: the state of each row's chain; out: after the visit.  An
 *              `all4` chain stands in each row of its image, before and
 *              after; not for fixed views
 *   score [n]  in: beta s of the state when it was accepted, `stale` only;
 *              out: beta s of the new state.  May be NULL but for `stale`
 *   w [n,columns]  out: not negative, rows sum to 1, but for `stale`; zero at
 *              the columns of the own image
 * O(n R) time, exact O(n columns); no overflow for any beta: all is done with
 * logarithms.
 */
struct sample_moves sample_emc2(const struct sample_emc2_how *how,
                                const struct batch *step, const float *s,
                                struct sample_state *state, float *score,
                                float *w, struct arena *scratch);

/* sample_emc2_length() returns R of v views of b images; half of it is the
 * usual burn-in. */
size_t sample_emc2_length(enum sample_proposals proposals, size_t v, size_t b);

#endif
