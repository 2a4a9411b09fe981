#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/value.h"

/*
 * A batch, from the plan to its gradient: v views of each of b samples, maybe u
 * more of a smaller size, and further samples that are negatives only.
 * Selector, filter, augmenter, trainer and sampler fill in the fields that they
 * know; the others are zero.
 *
 * Letters of shapes: b samples, v views, n = v b rows (row = view b + sample),
 * d numbers of an embedding, r further samples, s further captions.  The struct
 * does not own its arrays.
 */
enum { BATCH_VALUES_MAX = 8, BATCH_MADE_MAX = 10 };

/* The further samples of a batch, one view each. */
struct batch_extra {
    size_t n;             /* r */
    const int64_t *ids;   /* [r] may repeat */
    const int64_t *view;  /* [r] which of its views; -1, or NULL: a new one */
    const int64_t *epoch; /* [r] the epoch of that view; NULL: 0, the epoch of
                           * fixed views */
    int64_t most;         /* upper bound of r (of s with captions) in this run;
                           * 0: not known */

    size_t n_texts;       /* s */
    const int64_t *texts; /* [s,2] further captions: (sample, which of its
                           * captions); NULL: none */

    /* What is known of a draw when it is made, for its weighing some steps
     * later, maybe in another process: arrays [r], or NULL. */
    const int32_t *hint_row;  /* the row of the batch that it was drawn for; -1:
                               * none.  The cache draws for sample i, row i */
    const int32_t *hint_view; /* of EMC2: the view in the state of that row's
                               * chain; -1: none */
    const float *hint_log_q;  /* of the cache: log of the probability of the
                               * draw */
    size_t n_values;
    struct value values[BATCH_VALUES_MAX]; /* of all draws, for the metrics */

    const uint8_t *pixels; /* [r,height,width,channels] or NULL */
    const float *z;        /* [r,d] embeddings of unit length */
};

struct batch {
    int64_t epoch, step;   /* its place in the plan */
    int64_t steps, epochs; /* in this epoch, > step; in all, > epoch */
    int encode_only;       /* 1: features are wanted, nothing is trained */

    size_t b, v;        /* samples; views of each, 0: not known */
    const int64_t *ids; /* [b] substitutes included */
    int64_t fixed;      /* A: each view is one of A fixed ones of its sample;
                         * 0: a new one each time */
    const int64_t *view_of; /* [v,b] 0 .. A - 1: which fixed view; NULL when A
                             * is 0 */
    struct batch_extra extra;

    /* Captions: with them view 1 of a sample is one of its captions. */
    int64_t most_captions;   /* K, maximum captions of a sample; 0: none */
    const int32_t *captions; /* [b] which of them, 0 .. K - 1; or NULL */
    const int32_t *tokens;   /* of the b texts and the s further ones, packed;
                              * NULL: there are none */
    const size_t *offsets;   /* [b + s + 1] where each begins */

    const uint8_t *pixels; /* [v,b,height,width,channels]; with captions
                            * [b,height,width,channels] */
    struct {               /* a second group of views, such as small crops */
        size_t v, height, width; /* v: u, 0: none */
        const uint8_t *pixels;   /* [u,b,height,width,channels] */
    } small;
    const float *made; /* [v,b,n_made] numbers of the program that made the
                        * views, for its loss; or NULL */
    size_t n_made;     /* up to BATCH_MADE_MAX */
    size_t n_substituted;
    int64_t (*substituted)[2]; /* [n_substituted] the sample that could not be
                                * used, and its substitute */

    double beta;       /* inverse temperature, finite, > 0 */
    size_t dim;        /* d */
    const float *z;    /* [v,b,d] embeddings of unit length */
    int without_epoch; /* 1: the states of its rows have epoch 0 in every epoch
                        */
};

/*
 * batch_captions() makes an image and its captions 1 + K fixed views of a
 * sample, view 0 and 1 + k, so that each has a chain of its own: it sets v,
 * fixed and view_of, and of the further captions n, ids and view of extra.
 *
 *   memory  [batch_captions_size()] what these point to
 *
 * batch_captions_undo() clears these fields except v, and clears extra's z.
 */
size_t batch_captions_size(const struct batch *batch);
void batch_captions(struct batch *batch, int64_t *memory);
void batch_captions_undo(struct batch *batch);
