#include <math.h>
#include <stdlib.h>

#include "augment.h"
#include "data/fetch.h"
#include "select/windows.h"
#include "stage/fetch.h"
#include "util/mem.h"
#include "util/opt.h"

struct augment_fetch {
    struct data_set *set;
    struct select_windows *windows; /* of the plan; or NULL */
    size_t each;
    int fixed;
    size_t *shard, room;
};

void
augment_fetch_close(struct augment_fetch *f)
{
    if (!f)
        return;
    select_windows_free(f->windows);
    mem_free(f->shard, f);
}

struct augment_fetch *
augment_fetch_join(struct data_set *set, const struct wire_hello *selector)
{
    const size_t each = (size_t)selector->windows;
    struct augment_fetch *f;
    uint64_t *first;
    size_t shards;
    double gib;
    struct err err;

    if (!stage_fetch.command)
        return NULL;
    f = mem_array(1, sizeof *f);
    f->set = set;
    first = data_shards(set, &shards, &err);
    or_die(!first, &err);
    if (each && (size_t)selector->windows_shards == shards) {
        gib = (double)data_fetch_bytes(set, 2 * each) / (1 << 30);
        if (gib > stage_fetch.gib)
            die("two windows of %zu shards have up to %.3g GiB, and "
                "--cache-size is %.3g: make the cache larger, or foil-select "
                "--windows smaller",
                each, gib, stage_fetch.gib);
        f->each = each;
        f->fixed = selector->windows_fixed;
        f->windows = select_windows_new(shards, first, each,
                                        (uint64_t)selector->windows_seed);
    }
    free(first);
    return f;
}

/* Writes the shards of the windows that are wanted at a place of the trainer,
 * and returns their number.  Item `of` has the sizes. */
static size_t
add_windows(struct augment_fetch *f, const struct wire_item *of,
            const struct wire_place *place, size_t *shard)
{
    const uint64_t epoch = f->fixed ? 0 : (uint64_t)place->epoch;
    // within a batch below the first sample of the step
    const double share = (double)place->step / (double)of->batch.steps;
    const double at = fmin(share * (double)of->size,
                           (double)place->step * (double)of->batch.b);

    if (!f->windows)
        return 0;
    return select_windows_near(f->windows, epoch, epoch + !f->fixed,
                               (uint64_t)at, shard);
}

int
augment_fetch_ready(struct augment_fetch *f, const struct wire_item *item,
                    const struct wire_place *place, size_t *failed,
                    struct err *err)
{
    const struct batch *batch = &item->batch;
    const size_t need = batch->b + batch->extra.n;
    size_t n = 0;

    mem_grow(&f->shard, &f->room, need + 2 * f->each, sizeof *f->shard);
    for (size_t i = 0; i < need; i++)
        f->shard[n++] = data_shard(
            f->set, (size_t)(i < batch->b ? batch->ids[i]
                                          : batch->extra.ids[i - batch->b]));
    n += add_windows(f, item, place, f->shard + n);
    data_fetch_want(f->set, n, f->shard, need);
    return data_fetch_ready(f->set, failed, err);
}
