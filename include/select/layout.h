#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * The division of the N samples of an epoch into batches of B, the same in
 * every epoch and for every strategy.  If B does not divide N:
 *
 *     keep  ceil(N / B) batches of sizes that differ by one at most: each
 *           sample is trained exactly once, and no batch is so small that it
 *           has few negatives
 *     drop  floor(N / B) batches of B; the remaining samples, others in each
 *           epoch, are not trained
 *     wrap  ceil(N / B) batches of B; the last is filled with samples that are
 *           trained twice
 *
 * drop and wrap are for objectives that need batches of equal size.  Larger
 * batches come first, so the first batch of an epoch needs the most memory.
 */
enum select_remainder { SELECT_KEEP, SELECT_DROP, SELECT_WRAP };

struct select_layout {
    size_t size;   /* N */
    size_t steps;  /* batches in an epoch, >= 1 */
    size_t batch;  /* ids in a batch, >= 2 */
    size_t larger; /* the first `larger` batches have one id more */
};

/* select_layout_make() divides N samples into batches of B >= 2.  Returns -1
 * for N < 2, and for N < B with drop or wrap.  With keep no batch is larger
 * than B, except for B = 2 and an odd N: then the first has three. */
int select_layout_make(size_t size, size_t batch,
                       enum select_remainder remainder,
                       struct select_layout *layout, struct err *err);

/* select_layout_total() returns the ids in an epoch, all batches together. */
size_t select_layout_total(const struct select_layout *layout);

/* select_layout_start() returns the place of the first id of batch `step` <
 * steps among them, select_layout_count() its number of ids. */
size_t select_layout_start(const struct select_layout *layout, size_t step);
size_t select_layout_count(const struct select_layout *layout, size_t step);
