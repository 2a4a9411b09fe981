#ifndef SAMPLE_HEAVIEST_H
#define SAMPLE_HEAVIEST_H

#include "sample/source.h"

/*
 * Of the weights of a step the k heaviest negatives of each anchor, heaviest
 * first; of equal ones that of the lower column.  Arrays are [v b,k], their
 * last two [v b]; they are the caller's.
 *
 *     outside_r    sum over columns c >= v b of w_rc
 *     effective_r  1 / sum_c (w_rc / sum w_r)^2; 0 where the row is empty
 */
enum { SAMPLE_HEAVIEST_MAX = 64 };

struct sample_heaviest {
    size_t k;          /* 1 .. SAMPLE_HEAVIEST_MAX */
    int32_t *row;      /* column below v b + extra; else -1 */
    int64_t *sample;   /* its image; -1: not known, or no negative */
    int32_t *view;     /* which view, as fixed views are numbered where they
                          are; -1: not known */
    int64_t *epoch;    /* of which epoch; -1: not known */
    float *w, *cosine; /* 0: no negative */
    float *outside, *effective;
};

/* sample_heaviest() fills it in.  O(v b columns) where k is small. */
void sample_heaviest(const struct sample_step *step,
                     const struct sample_weights *weights,
                     struct sample_heaviest *heaviest);

#endif
