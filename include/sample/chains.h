#ifndef SAMPLE_CHAINS_H
#define SAMPLE_CHAINS_H

#include "sample/emc2.h"
#include "util/err.h"

/*
 * Where the chain of each (image, view) of a data set stands: 28 bytes each.
 * Views are the slots of a batch, or with finite augmentation the A fixed
 * views of each image.
 *
 *   state [size,views]   {-1, -1, 0} where a chain has not begun
 *   score [size,views]   beta s of the state when it was accepted, which only
 *                        `stale` chains look at; -FLT_MAX at first
 */
struct sample_chains {
    size_t size, views;
    struct sample_state *state;
    float *score;
};

/* sample_chains_init() begins with no chain begun. */
void sample_chains_init(struct sample_chains *chains, size_t size,
                        size_t views);
void sample_chains_release(struct sample_chains *chains);

/*
 * sample_chains_get() copies the chains of a batch out, sample_chains_put()
 * back in.
 *   ids       [b]    each < size
 *   variants  [v,b]  each < views; NULL: the slots 0 .. v-1, v <= views
 *   state     [v b]  row view * b + i
 *   score     [v b]  or NULL
 */
void sample_chains_get(const struct sample_chains *chains, size_t v, size_t b,
                       const int64_t *ids, const int64_t *variants,
                       struct sample_state *state, float *score);
void sample_chains_put(struct sample_chains *chains, size_t v, size_t b,
                       const int64_t *ids, const int64_t *variants,
                       const struct sample_state *state, const float *score);

/* sample_chains_place() returns where the chain of row `row` of a batch is in
 * these arrays: id views + its view. */
size_t sample_chains_place(const struct sample_chains *chains, size_t b,
                           const int64_t *ids, const int64_t *variants,
                           size_t row);

/* sample_chains_set() sets one from outside.  Refused, and not changed, where
 * the state names a sample, a view or an epoch that does not exist, or the
 * score is not finite. */
int sample_chains_set(struct sample_chains *chains, size_t place,
                      struct sample_state state, float score, struct err *err);

#endif
