#ifndef SELECT_LAYOUT_H
#define SELECT_LAYOUT_H

#include <stddef.h>

#include "util/err.h"

/*
 * How the N samples of an epoch fall into batches of B, the same in every
 * epoch and for every strategy.  Where B does not divide N:
 *
 *     keep  ceil(N / B) batches whose sizes differ by one at most: each
 *           sample is trained exactly once, and no batch is so small that it
 *           has next to nothing to contrast with
 *     drop  floor(N / B) batches of B; the samples left over, others in each
 *           epoch, are not trained
 *     wrap  ceil(N / B) batches of B; as many samples as are missing come a
 *           second time
 *
 * drop and wrap are for objectives whose batches must all have one size.  The
 * larger batches come first: the first batch of an epoch tells the most memory
 * that any of them takes.
 */
enum select_remainder { SELECT_KEEP, SELECT_DROP, SELECT_WRAP };

struct select_layout {
    size_t size;   /* N */
    size_t steps;  /* batches in an epoch, >= 1 */
    size_t batch;  /* ids in a batch, >= 2 */
    size_t larger; /* that many batches, the first ones, have one id more */
};

/*
 * select_layout_make() lays out N samples in batches of B >= 2.  Refused are
 * N < 2, and N < B under drop and wrap.  Under keep no batch is larger than
 * B, but for B = 2 and an odd N: then the first one has three.
 */
int select_layout_make(size_t size, size_t batch,
                       enum select_remainder remainder,
                       struct select_layout *layout, struct err *err);

/* select_layout_total() returns the ids in an epoch, all batches together. */
size_t select_layout_total(const struct select_layout *layout);

/* select_layout_start(), select_layout_count() tell where among them batch
 * `step` < steps begins, and how many are its own. */
size_t select_layout_start(const struct select_layout *layout, size_t step);
size_t select_layout_count(const struct select_layout *layout, size_t step);

#endif
