#ifndef SELECT_REPLACE_H
#define SELECT_REPLACE_H

#include "select/strategy.h"
#include "util/rng.h"

/*
 * replace: each batch is a uniformly random set of samples, independent of the
 * other batches (sampling with replacement between steps, as analyses of SGD
 * assume; lib/algorithms.md 5.3).  An epoch trains each sample once on average:
 * some not at all, some twice or more.  Batch `step` is keyed by (seed, epoch,
 * step).  Expected O(b log b) for each batch.
 */
extern const struct select_strategy select_strategy_replace;

void select_replace(const struct select_task *task, int64_t *ids);

/*
 * select_replace_draw() draws one such batch, in random order.
 *   size >= b
 *   taken [size]  zero, before and after
 *   ids [b]
 */
void select_replace_draw(struct rng *rng, size_t size, size_t b,
                         unsigned char *taken, int64_t *ids);

#endif
