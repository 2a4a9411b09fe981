#ifndef FOIL_VIEW_BATCH_CACHE_H
#define FOIL_VIEW_BATCH_CACHE_H

#include "batch_view.h"

enum { BATCH_CACHE_PLACES = 64, BATCH_CACHE_PINS = 32 };

/* The newest batches with their embeddings, for requests of pages.  A zeroed
 * cache is empty. */
struct batch_cache {
    struct batch_view place[BATCH_CACHE_PLACES];
    uint64_t pinned[BATCH_CACHE_PLACES]; /* number of its last pin; 0: none */
    uint64_t pins;
    size_t n, last; /* batches added; place of the newest */
};

/* batch_cache_add() takes ownership of a batch and returns its copy in the
 * cache, which replaces the oldest batch that is not pinned. */
const struct batch_view *batch_cache_add(struct batch_cache *cache,
                                         struct batch_view *batch);

/* batch_cache_newest() returns the batch that was added last, or NULL. */
const struct batch_view *batch_cache_newest(const struct batch_cache *cache);

/* batch_cache_find() returns the batch of a step, or NULL. */
const struct batch_view *batch_cache_find(const struct batch_cache *cache,
                                          int64_t epoch, int64_t step);

/* batch_cache_pin() protects a batch from replacement until BATCH_CACHE_PINS
 * others have been pinned after it. */
void batch_cache_pin(struct batch_cache *cache, const struct batch_view *batch);
void batch_cache_release(struct batch_cache *cache);

#endif
