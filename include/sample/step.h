#ifndef SAMPLE_STEP_H
#define SAMPLE_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

/*
 * A state of a chain: a view of a sample, or {-1, -1, 0} for none.  Where views
 * are fixed it is fixed view `view` of that sample, and epoch is 0; else it is
 * the view that the sample had in slot `view` of its batch in that epoch.  A
 * view is a function of seed, sample, epoch and number, so that it can be made
 * again.
 */
struct sample_state {
    int64_t id, view, epoch;
};

/*
 * What the drawing of extra samples tells the weighing of each, which comes
 * some steps later and maybe in another process: arrays [extra], or NULL.
 *
 *   row     the row of the batch, view * b + i, for which it was drawn; -1:
 *           for none.  The cache draws for an image i, row i
 *   view    of EMC2: the view in the state of that row's chain; -1: none
 *   log_q   of the cache: log of the probability of the draw
 */
struct sample_hints {
    const int32_t *row, *view;
    const float *log_q;
};

/*
 * A step of training as the samplers see it: v views of b images are anchors,
 * n = v b rows; extra samples from outside of the batch are further columns.
 * An id that comes twice in a batch counts as two images.
 *
 * Drawing needs epoch, step, v, b, fixed, ids and variants; weighing all.
 */
struct sample_step {
    uint64_t epoch, step;       /* in its epoch: keys of the random numbers,
                                   < 2^32, < 2^48 */
    double beta;                /* inverse temperature, finite, > 0 */
    size_t v, b, extra, dim;    /* v, b, dim >= 1 */
    size_t fixed;               /* A: each view is one of A fixed ones of its
                                   sample; 0: a new one each time */
    int timeless;               /* 1: its states have epoch 0 all the same */
    const int64_t *ids;         /* [b] */
    const int64_t *variants;    /* [v,b] < A; NULL without fixed views */
    const int64_t *extra_ids;   /* [extra] */
    const int64_t *extra_view;  /* [extra] which view; -1 or NULL: new */
    const int64_t *extra_epoch; /* [extra] of which epoch; NULL: 0, as of fixed
                                   views */
    const float *z;             /* [v,b,dim] embeddings of unit length */
    const float *extra_z;       /* [extra,dim] */
    struct sample_hints hints;
};

/* sample_step_views() returns how many chains an image has: A, or v. */
size_t sample_step_views(const struct sample_step *step);

/* sample_step_state() returns the state that a row (column < n) or an extra
 * sample (column - n) is: {id, variant, 0} or {id, slot, epoch}.  The view of
 * an extra is < 0 where it may count as any view. */
struct sample_state sample_step_state(const struct sample_step *step,
                                      size_t column);

/* sample_step_hint() returns the row < n for which an extra sample was drawn,
 * or n for none. */
size_t sample_step_hint(const struct sample_step *step, size_t extra, size_t n);

/* sample_step_compare() returns the similarities of the anchors with all
 * columns, [n,n + extra], in the arena.  O(n (n + extra) dim). */
const float *sample_step_compare(const struct sample_step *step,
                                 struct arena *to);

/* sample_state_order() compares two states for qsort(): by sample, view and
 * epoch; 0 when they are one. */
int sample_state_order(const void *a, const void *b);

/*
 * sample_step_outside() keeps those states that are no row of the batch, each
 * once, sorted by sample_state_order(), and returns how many there are.
 *   want  [wanted]  in and out
 */
size_t sample_step_outside(const struct sample_step *step, size_t wanted,
                           struct sample_state *want, struct arena *scratch);

#endif
