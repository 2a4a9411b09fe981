#ifndef SAMPLE_HEAVIEST_H
#define SAMPLE_HEAVIEST_H

#include "sample/source.h"

/*
 * The k heaviest negatives of each anchor in the weights of a step, heaviest
 * first; of equal weights the lower column first.  The caller owns the arrays:
 * [v b,k], the last two [v b].
 *
 *     outside_r    sum over columns c >= v b of w_rc
 *     effective_r  1 / sum_c (w_rc / sum w_r)^2; 0 where the row is empty
 */
enum { SAMPLE_HEAVIEST_MAX = 64 };

struct sample_heaviest {
    size_t k;          /* 1 .. SAMPLE_HEAVIEST_MAX */
    int32_t *row;      /* its column, if below v b + extra; else -1 */
    int64_t *sample;   /* its image; -1: unknown, or no negative */
    int32_t *view;     /* number of its fixed view, or slot; -1: unknown */
    int64_t *epoch;    /* of that view; 0 for fixed views; -1: unknown */
    float *w, *cosine; /* weight, similarity to the anchor; 0: no negative */
    float *outside, *effective;
};

/* sample_heaviest() fills in the arrays; the caller sets k.  O(v b columns) for
 * a small k. */
void sample_heaviest(const struct batch *step,
                     const struct sample_weights *weights,
                     struct sample_heaviest *heaviest);

#endif
