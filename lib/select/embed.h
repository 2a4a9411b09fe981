#ifndef SELECT_EMBED_H
#define SELECT_EMBED_H

#include "select/strategy.h"
#include "util/rng.h"

/* select_embed_dimension() returns the dimension d of the points of
 * select_embed() for k batches. */
size_t select_embed_dimension(const struct select_task *task, size_t k);

/*
 * select_embed() maps samples to points by the variant (select/spectral.h).
 *   k    2 .. n
 *   ids  [n] with known features
 *   x    [n,d]
 */
void select_embed(const struct select_task *task, size_t n, size_t k,
                  const int64_t *ids, struct rng *rng, float *x);

#endif
