#ifndef TRAIN_CUT_H
#define TRAIN_CUT_H

#include <stddef.h>

/*
 * Which of n rows are whose: a batch is cut into V shards, or the largest power
 * of two <= n where that is less, and its first ranks have as many of them
 * each.
 */
struct train_cut {
    size_t shards, ranks; /* V, and W that divides it: powers of two */
};

/* The most rows of a shard, for a batch of up to so many. */
size_t train_cut_most(size_t rows, size_t shards);

size_t train_cut_shards(const struct train_cut *cut, size_t n);
size_t train_cut_busy(const struct train_cut *cut, size_t n); /* ranks */

/* The first shard of a rank, of rank W all; the first row of a shard. */
size_t train_cut_first(const struct train_cut *cut, size_t n, size_t rank);
size_t train_cut_row(const struct train_cut *cut, size_t n, size_t shard);

/* Where the rows of each rank begin, from[W + 1], times `row`. */
void train_cut_rows(const struct train_cut *cut, size_t n, size_t row,
                    size_t *from);

#endif
