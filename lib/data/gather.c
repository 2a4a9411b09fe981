#include <stdlib.h>
#include <string.h>

#include "data/gather.h"
#include "util/mem.h"
#include "util/rng.h"

void
data_gather_begin(struct data_gather *g, const struct data_wanted *want)
{
    const size_t n = want->n, all = n + want->n_extra;

    REQUIRE(n && want->views && want->size);
    g->want = *want;
    g->n_substituted = g->at = 0;
    mem_grow(&g->ids, &g->ids_room, all, sizeof *g->ids);
    mem_grow(&g->pixel, &g->pixel_room,
             (want->views * n + want->n_extra) * want->size * want->size * 3,
             1);
    memcpy(g->ids, want->ids, n * sizeof *g->ids);
    if (want->n_extra)
        memcpy(g->ids + n, want->extra, want->n_extra * sizeof *g->ids);
}

/* The image of the next sample, or of its substitute. */
static const struct data_image *
image_of(struct data_gather *g, struct data_pool *pool, uint64_t seed,
         uint64_t epoch, struct err *why)
{
    const int64_t wanted = g->ids[g->at];
    const struct data_image *image = data_pool_get(pool, (size_t)wanted, why);
    struct err err;
    int64_t used;

    if (image || data_pool_unread(pool))
        return image;
    used = data_pool_substitute(pool, seed, (size_t)wanted, epoch,
                                g->want.n + g->want.n_extra, g->ids, &err);
    if (used < 0) {
        err_set(why, "%s", err.msg);
        return NULL;
    }
    mem_grow(&g->substituted, &g->substituted_room, g->n_substituted + 1,
             sizeof *g->substituted);
    g->substituted[g->n_substituted][0] = wanted;
    g->substituted[g->n_substituted++][1] = g->ids[g->at] = used;
    return data_pool_get(pool, (size_t)used, &err);
}

/* Makes row `row` of the pixels: view `view` of an epoch. */
static void
make_view(struct data_gather *g, const struct data_recipe *recipe,
          const struct data_image *image, uint64_t seed, uint64_t epoch,
          uint64_t view, size_t row)
{
    const size_t area = g->want.size * g->want.size * 3;

    if (g->want.make)
        g->want.make(g->want.of, image, g->ids[g->at], epoch, view, row);
    else
        data_view(recipe, image, seed, (uint64_t)g->ids[g->at], epoch, view,
                  &g->scratch, g->pixel + row * area);
}

/* The view of an extra sample: one that is named, or a fresh one. */
static void
make_extra(struct data_gather *g, const struct data_recipe *recipe,
           const struct data_image *image, uint64_t seed, uint64_t epoch)
{
    const struct data_wanted *w = &g->want;
    const size_t extra = g->at - w->n;
    const int64_t view = w->extra_view ? w->extra_view[extra] : -1;
    uint64_t named = w->extra_epoch ? (uint64_t)w->extra_epoch[extra] : 0;

    make_view(g, recipe, image, seed, view < 0 ? epoch : named,
              view < 0 ? w->views : (uint64_t)view, w->views * w->n + extra);
}

int
data_gather_next(struct data_gather *g, struct data_pool *pool,
                 const struct data_recipe *recipe, uint64_t seed,
                 uint64_t epoch, struct err *why)
{
    const struct data_wanted *w = &g->want;
    const struct data_image *image;

    REQUIRE(recipe->size == w->size);
    if (g->at == w->n + w->n_extra)
        return 0;
    image = image_of(g, pool, seed, epoch, why);
    if (!image)
        return -1;
    if (g->at >= w->n)
        make_extra(g, recipe, image, seed, epoch);
    else
        for (size_t v = 0; v < w->views; v++)
            make_view(g, recipe, image, seed, w->variant ? 0 : epoch,
                      w->variant ? (uint64_t)w->variant[v * w->n + g->at] : v,
                      v * w->n + g->at);
    g->at++;
    return 1;
}

void
data_gather_release(struct data_gather *g)
{
    free(g->ids);
    free(g->pixel);
    free(g->substituted);
    data_scratch_free(g->scratch);
    *g = (struct data_gather){0};
}

/* 1 when one of the first n views of sample i is variant k. */
static int
is_variant_taken(const int64_t *variant, size_t b, size_t i, size_t n,
                 int64_t k)
{
    for (size_t v = 0; v < n; v++)
        if (variant[v * b + i] == k)
            return 1;
    return 0;
}

void
data_variants(uint64_t seed, uint64_t epoch, size_t b, const int64_t *ids,
              size_t A, size_t views, int64_t *variant)
{
    REQUIRE(views <= A);
    for (size_t i = 0; i < b; i++) {
        struct rng rng;

        rng_init(&rng, seed, RNG_VARIANT, (uint64_t)ids[i], epoch, 0);
        for (size_t v = 0; v < views; v++) {
            int64_t k = (int64_t)v;

            while (A > views &&
                   is_variant_taken(variant, b, i, v,
                                    k = (int64_t)rng_below(&rng, A)))
                ;
            variant[v * b + i] = k;
        }
    }
}
