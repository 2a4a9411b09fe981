#ifndef SELECT_LAYOUT_H
#define SELECT_LAYOUT_H

#include <stddef.h>

#include "util/err.h"

/*
 * How the N samples of an epoch fall into batches of B, the same in every
 * epoch and for every strategy.  With q = N / B whole batches and r = N mod B
 * samples left over:
 *
 *     keep  r >= 2: q + 1 batches, the last of r;  r = 1: q batches, the last
 *           of B + 1, as nothing can be contrasted with a single sample
 *     drop  q batches; r samples, others in each epoch, are left out
 *     wrap  q + 1 batches of B; B - r samples of the epoch's first batches
 *           come a second time
 *
 * Under keep each sample is trained exactly once in an epoch.  Where all
 * batches must have one size (drop, wrap) that is given up, each in its way.
 */
enum select_remainder { SELECT_KEEP, SELECT_DROP, SELECT_WRAP };

struct select_layout {
    size_t size;  /* N */
    size_t steps; /* batches in an epoch, >= 1 */
    size_t batch; /* ids in each but the last */
    size_t last;  /* ids in the last */
};

/*
 * select_layout_make() lays out N samples in batches of B >= 2.  N < B gives
 * one batch of N under keep, and is refused under drop and wrap; so is N < 2.
 */
int select_layout_make(size_t size, size_t batch,
                       enum select_remainder remainder,
                       struct select_layout *layout, struct err *err);

/* select_layout_total() returns the ids in an epoch, all batches together. */
size_t select_layout_total(const struct select_layout *layout);

/* select_layout_count() returns the ids in batch `step` < steps, which starts
 * at step * batch of them. */
size_t select_layout_count(const struct select_layout *layout, size_t step);

#endif
