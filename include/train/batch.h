#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "sample/step.h"

/*
 * A batch of the plan, ready to be trained: two views of each of n samples,
 * and further images or texts that are negatives only.  All arrays are lent.
 */
struct train_batch {
    int64_t epoch, step;   /* its place in the plan */
    int64_t steps, epochs; /* in this epoch, > step; in all, > epoch */
    int encode_only;       /* 1: features are wanted, nothing is trained */

    size_t n;           /* samples, >= 2 */
    const int64_t *ids; /* [n] */
    /* height x width x channels bytes a view.  With two encoders view k goes
     * through encoder k; that of texts has tokens and offsets instead, as in
     * struct nn_input */
    const uint8_t *views;  /* [2,n,height,width,channels], with texts [n,...] */
    const int32_t *tokens; /* of all texts, packed; NULL: there are none */
    const size_t *offsets; /* [n + n_extra + 1] where each begins */
    const int32_t *captions; /* [n] number of each among the captions of its
                                sample; or NULL */
    int64_t fixed;           /* fixed views of a sample; 0: each view is drawn
                                anew */
    const int64_t *view_of;  /* [2,n] which fixed view; NULL when drawn anew */

    /* further samples: images; or, where there are texts, texts, which follow
     * the n of the batch in tokens and offsets */
    size_t n_extra;
    const int64_t *extra_ids;   /* [n_extra] */
    const uint8_t *extra;       /* [n_extra,height,width,channels], or NULL */
    const int64_t *extra_view;  /* [n_extra] as view_of, -1: drawn anew; NULL:
                                   all are */
    const int64_t *extra_epoch; /* [n_extra] of which epoch; NULL: 0 */

    struct sample_hints hints; /* of the further images, for the negatives */

    size_t n_substituted;
    int64_t (*substituted)[2]; /* [n_substituted] the sample that could
                                        not be used, and its substitute */
};

#endif
