#pragma once

#include "util/arena.h"
#include "util/batch.h"

/*
 * A state of a chain: a view of a sample, or {-1, -1, 0} for none.  If views
 * are fixed it is fixed view `view` of that sample, and epoch is 0; else it is
 * the view that the sample had in slot `view` of its batch in that epoch.  A
 * view is a function of seed, sample, epoch and slot, so it can be made again.
 */
struct sample_state {
    int64_t id, view, epoch;
};

/*
 * Samplers see a training step as its batch (util/batch.h): the n = v b rows
 * are anchors, the extra samples are further columns.  An id that appears twice
 * in a batch counts as two images.
 *
 * A draw needs epoch < 2^32, step < 2^48, v, b, fixed, ids and view_of;
 * weighing also needs beta, dim and the embeddings.
 */

/* sample_step_views() returns how many chains an image has: A, or v. */
size_t sample_step_views(const struct batch *step);

/* sample_step_state() returns the state of a row (column < n) or of an extra
 * sample (column - n): {id, variant, 0} or {id, slot, epoch}.  The view of an
 * extra is < 0 if it may count as any view. */
struct sample_state sample_step_state(const struct batch *step, size_t column);

/* sample_step_hint() returns the row < n for which an extra sample was drawn,
 * or n for none. */
size_t sample_step_hint(const struct batch *step, size_t extra, size_t n);

/* sample_step_compare() returns the similarities of the anchors with all
 * columns, [n,n + extra], in the arena.  O(n (n + extra) dim). */
const float *sample_step_compare(const struct batch *step, struct arena *to);

/* sample_state_order() compares two states for qsort(): by sample, view and
 * epoch; 0 if they are equal. */
int sample_state_order(const void *a, const void *b);

/*
 * sample_step_outside() removes duplicates and the states that are rows of the
 * batch, sorts the others by sample_state_order(), and returns their number.
 *   want  [wanted]  in and out
 */
size_t sample_step_outside(const struct batch *step, size_t wanted,
                           struct sample_state *want, struct arena *scratch);
