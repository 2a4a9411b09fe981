#include "batch_cache.h"

const struct batch_view *
batch_cache_add(struct batch_cache *cache, struct batch_view *batch)
{
    struct batch_view *place;

    do
        cache->last = (cache->last + 1) % BATCH_CACHE_PLACES;
    while (cache->pinned[cache->last]);
    place = &cache->place[cache->last];
    batch_view_release(place);
    *place = *batch;
    *batch = (struct batch_view){0};
    cache->n++;
    return place;
}

const struct batch_view *
batch_cache_newest(const struct batch_cache *cache)
{
    return cache->n ? &cache->place[cache->last] : NULL;
}

const struct batch_view *
batch_cache_find(const struct batch_cache *cache, int64_t epoch, int64_t step)
{
    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++) {
        const struct batch_view *b = &cache->place[i];

        if (b->n && b->epoch == epoch && b->step == step)
            return b;
    }
    return NULL;
}

void
batch_cache_pin(struct batch_cache *cache, const struct batch_view *batch)
{
    size_t n = 0, oldest = 0;

    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++) {
        if (batch == &cache->place[i])
            cache->pinned[i] = ++cache->pins;
        if (cache->pinned[i] &&
            (!n++ || cache->pinned[i] < cache->pinned[oldest]))
            oldest = i;
    }
    if (n > BATCH_CACHE_PINS)
        cache->pinned[oldest] = 0;
}

void
batch_cache_release(struct batch_cache *cache)
{
    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++)
        batch_view_release(&cache->place[i]);
    *cache = (struct batch_cache){0};
}
