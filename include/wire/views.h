#ifndef WIRE_VIEWS_H
#define WIRE_VIEWS_H

#include "wire/metrics.h"

/*
 * What item, batch and pairs say of views; all of it is optional.  Each of b
 * samples has v views, each of r extra samples one.
 */
enum {
    WIRE_VIEW_MAX = 65535,
    WIRE_BATCH_MAX = 65536,
    WIRE_HINT_VALUES_MAX = 8,
    WIRE_CAPTIONS_MAX = 64,       /* of a sample */
    WIRE_TOKENS_MAX = 4096,       /* of a text */
    WIRE_VOCABULARY_MAX = 1 << 24 /* ids of tokens */
};

/*
 * Hints are what a filter that draws the extra samples tells the service that
 * weighs them: the stages between hand them on, and nobody else looks at them.
 */
struct wire_extra {
    int64_t reserve;          /* r is never larger in this run, up to
                               * WIRE_BATCH_MAX; 0: not given */
    const int64_t *view;      /* [r] which view of each extra sample, below
                               * WIRE_VIEW_MAX; -1, or NULL: a fresh random
                               * view */
    const int64_t *epoch;     /* [r] of which epoch that view is; NULL: of epoch
                               * 0, as fixed variants are */
    const int32_t *hint_row;  /* [r] the row of the batch, view*b + i, for which
                               * each was drawn; -1: for none.  Or NULL, as are
                               * both that follow */
    const int32_t *hint_view; /* [r] the view in the state of that row's chain;
                               * -1: none */
    const float *hint_log_q;  /* [r] log of the probability of the draw */
    size_t n_hint_values;     /* up to WIRE_HINT_VALUES_MAX */
    struct value hint_values[WIRE_HINT_VALUES_MAX]; /* of all draws, for
                                                     * the metrics */
};

struct wire_variants {
    int64_t augmentations;  /* A, 2 .. WIRE_VIEW_MAX: there are A fixed
                             * variants of each sample; 0: each view is a fresh
                             * one */
    size_t views;           /* v */
    const int64_t *variant; /* [v,b] 0 .. A - 1: which variant each view is;
                             * NULL when A is 0 */
};

#endif
