#ifndef FOIL_VIEW_BATCH_CACHE_H
#define FOIL_VIEW_BATCH_CACHE_H

#include "batch_view.h"

enum { BATCH_CACHE_PLACES = 64, BATCH_CACHE_PINS = 32 };

/* The newest batches with their embeddings, for pages that ask about them.
 * Zeros are an empty one. */
struct batch_cache {
    struct batch_view place[BATCH_CACHE_PLACES];
    uint64_t pinned[BATCH_CACHE_PLACES]; /* by which pin last; 0: none */
    uint64_t pins;
    size_t n, last; /* how many were added; the place of the newest */
};

/* batch_cache_add() takes over a batch and returns its place, that of the
 * oldest that is not pinned. */
const struct batch_view *batch_cache_add(struct batch_cache *cache,
                                         struct batch_view *batch);

/* batch_cache_newest() returns the batch that was added last, NULL where there
 * is none. */
const struct batch_view *batch_cache_newest(const struct batch_cache *cache);

/* batch_cache_find() returns the batch of a step, NULL where it is not there.
 */
const struct batch_view *batch_cache_find(const struct batch_cache *cache,
                                          int64_t epoch, int64_t step);

/* batch_cache_pin() keeps a batch until BATCH_CACHE_PINS others were pinned
 * after it. */
void batch_cache_pin(struct batch_cache *cache, const struct batch_view *batch);
void batch_cache_release(struct batch_cache *cache);

#endif
