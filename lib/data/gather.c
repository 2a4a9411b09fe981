#include <stdlib.h>
#include <string.h>

#include "data/gather.h"
#include "util/mem.h"

void
data_gather_begin(struct data_gather *g, size_t n, const int64_t *ids,
                  size_t n_extra, const int64_t *extra, size_t views,
                  size_t size)
{
    REQUIRE(n && views && size);
    g->n = n;
    g->n_extra = n_extra;
    g->n_views = views;
    g->size = size;
    g->n_swap = g->at = 0;
    mem_grow(&g->ids, &g->ids_room, n + n_extra, sizeof *g->ids);
    mem_grow(&g->pixel, &g->pixel_room, (views * n + n_extra) * size * size * 3,
             1);
    memcpy(g->ids, ids, n * sizeof *ids);
    if (n_extra)
        memcpy(g->ids + n, extra, n_extra * sizeof *extra);
}

/* The image of the sample that is next, or of who stands in for it. */
static const struct data_image *
image_of(struct data_gather *g, struct data_pool *pool, uint64_t seed,
         uint64_t epoch, struct err *why)
{
    const int64_t wanted = g->ids[g->at];
    const struct data_image *image = data_pool_get(pool, (size_t)wanted, why);
    struct err err;
    int64_t used;

    if (image)
        return image;
    used = data_pool_stand_in(pool, seed, (size_t)wanted, epoch,
                              g->n + g->n_extra, g->ids, &err);
    if (used < 0) {
        err_set(why, "%s", err.msg);
        return NULL;
    }
    mem_grow(&g->swap, &g->swap_room, g->n_swap + 1, sizeof *g->swap);
    g->swap[g->n_swap][0] = wanted;
    g->swap[g->n_swap++][1] = g->ids[g->at] = used;
    return data_pool_get(pool, (size_t)used, &err);
}

int
data_gather_next(struct data_gather *g, struct data_pool *pool,
                 const struct data_recipe *recipe, uint64_t seed,
                 uint64_t epoch, struct err *why)
{
    const size_t area = g->size * g->size * 3, extra = g->at - g->n;
    const struct data_image *image;
    uint64_t id;

    REQUIRE(recipe->size == g->size);
    if (g->at == g->n + g->n_extra)
        return 0;
    image = image_of(g, pool, seed, epoch, why);
    if (!image)
        return -1;
    id = (uint64_t)g->ids[g->at];
    if (g->at >= g->n)
        data_view(recipe, image, seed, id, epoch, g->n_views, &g->scratch,
                  g->pixel + (g->n_views * g->n + extra) * area);
    else
        for (size_t v = 0; v < g->n_views; v++)
            data_view(recipe, image, seed, id, epoch, v, &g->scratch,
                      g->pixel + (v * g->n + g->at) * area);
    g->at++;
    return 1;
}

void
data_gather_release(struct data_gather *g)
{
    free(g->ids);
    free(g->pixel);
    free(g->swap);
    data_scratch_free(g->scratch);
    *g = (struct data_gather){0};
}
