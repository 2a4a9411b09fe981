#include "foil-view/batch_view.h"

#include "t.h"

static const struct batch_view *
add_step(struct batch_cache *cache, int64_t step)
{
    struct batch_view m = {.epoch = 1, .step = step, .n = 4, .views = 2};

    return batch_cache_add(cache, &m);
}

static void
newest_batches_are_found(void)
{
    struct batch_cache cache = {0};
    int64_t step = 0;

    T(!batch_cache_newest(&cache) && !batch_cache_find(&cache, 1, 0),
      "an empty cache has no batch");
    while (step < BATCH_CACHE_PLACES)
        add_step(&cache, step++);
    T(batch_cache_find(&cache, 1, 0) && !batch_cache_find(&cache, 0, 0),
      "a full cache has the first batch");
    add_step(&cache, step);
    T(!batch_cache_find(&cache, 1, 0) && batch_cache_find(&cache, 1, 1),
      "one more batch replaces the oldest");
    T(batch_cache_newest(&cache)->step == step,
      "the added batch is the newest");
    batch_cache_release(&cache);
    T(!batch_cache_newest(&cache), "a released cache is empty");
}

static void
a_pinned_batch_stays(void)
{
    struct batch_cache cache = {0};
    int64_t step = 0;

    batch_cache_pin(&cache, add_step(&cache, step++));
    while (step < 3 * BATCH_CACHE_PLACES)
        add_step(&cache, step++);
    T(batch_cache_find(&cache, 1, 0), "a pinned batch is not replaced");
    for (int i = 1; i < BATCH_CACHE_PINS; i++)
        batch_cache_pin(&cache, add_step(&cache, step++));
    batch_cache_pin(&cache, batch_cache_find(&cache, 1, 0));
    batch_cache_pin(&cache, add_step(&cache, step++));
    while (step < 6 * BATCH_CACHE_PLACES)
        add_step(&cache, step++);
    T(!batch_cache_find(&cache, 1, 3 * BATCH_CACHE_PLACES),
      "one pin too many: the batch pinned first is replaced");
    T(batch_cache_find(&cache, 1, 0) &&
          batch_cache_find(&cache, 1, 3 * BATCH_CACHE_PLACES + 1),
      "the others stay, also one that was pinned again");
    T(batch_cache_newest(&cache)->step == step - 1,
      "the newest batch is there");
    batch_cache_release(&cache);
}

int
main(void)
{
    newest_batches_are_found();
    a_pinned_batch_stays();
    return t_done();
}
