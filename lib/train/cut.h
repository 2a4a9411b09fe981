#ifndef TRAIN_CUT_H
#define TRAIN_CUT_H

#include <stddef.h>

/*
 * Distribution of the n rows of a batch over ranks: the batch is cut into V
 * shards, or if n < V into the largest power of two <= n, and the first ranks
 * have equal numbers of them.
 */
struct train_cut {
    size_t shards, ranks; /* V, and W that divides it: powers of two */
};

/* The largest number of rows of a shard, for batches of up to `rows`. */
size_t train_cut_most(size_t rows, size_t shards);

size_t train_cut_shards(const struct train_cut *cut, size_t n);
size_t train_cut_busy(const struct train_cut *cut, size_t n); /* ranks */

/* The first shard of a rank, for rank W the number of shards; the first row of
 * a shard. */
size_t train_cut_first(const struct train_cut *cut, size_t n, size_t rank);
size_t train_cut_row(const struct train_cut *cut, size_t n, size_t shard);

/* The first row of each rank, from[W + 1], times `row`. */
void train_cut_rows(const struct train_cut *cut, size_t n, size_t row,
                    size_t *from);

#endif
