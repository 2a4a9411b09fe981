#include <stdlib.h>
#include <string.h>

#include "data/gather.h"
#include "util/mem.h"
#include "util/rng.h"

size_t
data_gather_bytes(const struct data_wanted *want)
{
    const size_t d = want->row.d, other = want->pair_row.d;

    return d ? (d > other ? d : other) * sizeof(float)
             : want->size * want->size * 3;
}

void
data_gather_begin(struct data_gather *g, const struct data_wanted *want)
{
    const size_t n = want->batch.b, r = want->batch.extra.n,
                 rows = want->batch.v * n, area = data_gather_bytes(want),
                 small = want->small_views ? want->small->size : 0;
    int64_t(*const substituted)[2] = g->batch.substituted;

    REQUIRE(rows && want->size);
    mem_grow(&g->ids, &g->ids_room, n + r, sizeof *g->ids);
    mem_grow(&g->pixel, &g->pixel_room,
             (rows + r) * area + want->small_views * n * small * small * 3, 1);
    memcpy(g->ids, want->batch.ids, n * sizeof *g->ids);
    if (r)
        memcpy(g->ids + n, want->batch.extra.ids, r * sizeof *g->ids);
    g->want = *want;
    g->at = 0;
    g->batch = want->batch;
    g->batch.ids = g->ids;
    g->batch.pixels = g->pixel;
    g->batch.extra.ids = g->ids + n;
    g->batch.extra.pixels = g->pixel + rows * area;
    g->batch.small.v = want->small_views;
    g->batch.small.height = g->batch.small.width = small;
    g->batch.small.pixels = g->pixel + (rows + r) * area;
    g->batch.n_substituted = 0;
    g->batch.substituted = substituted;
}

/* How the views of the current sample are made, and the epoch. */
struct views {
    const struct data_gather *g;
    const struct image_recipe *recipe;
    uint64_t seed, epoch;
};

/* One view: its epoch and number, and the row that it fills. */
struct place {
    uint64_t epoch, view;
    size_t row;
};

static size_t
count_views(const struct views *views)
{
    const struct data_wanted *want = &views->g->want;

    return views->g->at < want->batch.b ? want->batch.v + want->small_views : 1;
}

/* Returns view v of the current sample; of an extra one, the view that the
 * batch names, or a new one. */
static struct place
place_view(const struct views *views, size_t v)
{
    const struct batch *b = &views->g->want.batch;
    const size_t at = views->g->at, row = v * b->b + at;

    if (at >= b->b) {
        const size_t extra = at - b->b;
        const int64_t view = b->extra.view ? b->extra.view[extra] : -1;
        const int64_t epoch = b->extra.epoch ? b->extra.epoch[extra] : 0;

        return view < 0
                   ? (struct place){views->epoch, b->v, b->v * b->b + extra}
                   : (struct place){(uint64_t)epoch, (uint64_t)view,
                                    b->v * b->b + extra};
    }
    if (b->view_of)
        return (struct place){0, (uint64_t)b->view_of[row], row};
    return (struct place){views->epoch, v, row};
}

/* Returns how view v of the current sample is made. */
static const struct image_recipe *
recipe_of_view(const struct views *views, size_t v)
{
    const struct data_wanted *want = &views->g->want;

    return v < want->batch.v ? views->recipe : want->small;
}

static struct image_box
box_of_view(const struct views *views, size_t v, size_t width, size_t height)
{
    const uint64_t id = (uint64_t)views->g->ids[views->g->at];
    const struct place place = place_view(views, v);

    return image_view_box(recipe_of_view(views, v), width, height, views->seed,
                          id, place.epoch, place.view);
}

/* Returns the box that all views of a sample read. */
static struct image_box
box_of_views(void *of, size_t width, size_t height)
{
    const struct views *views = of;
    struct image_box all = box_of_view(views, 0, width, height);

    for (size_t v = 1; v < count_views(views); v++) {
        const struct image_box box = box_of_view(views, v, width, height);

        image_box_cover(&all, &box);
    }
    return all;
}

/* Returns the image of the next sample, or of its substitute. */
static const struct image *
image_of(struct data_gather *g, struct data_pool *pool, struct views *views,
         struct err *why)
{
    const struct image_region region = {box_of_views, views};
    const struct image_region *read = g->want.make ? NULL : &region;
    const int64_t wanted = g->ids[g->at];
    struct batch *batch = &g->batch;
    const struct image *image = data_pool_get(pool, (size_t)wanted, read, why);
    struct err err;
    int64_t used;

    if (image || data_pool_unread(pool))
        return image;
    used = data_pool_substitute(pool, views->seed, (size_t)wanted, views->epoch,
                                batch->b + batch->extra.n, g->ids, &err);
    if (used < 0) {
        err_set(why, "%s", err.msg);
        return NULL;
    }
    mem_grow(&batch->substituted, &g->substituted_room,
             batch->n_substituted + 1, sizeof *batch->substituted);
    batch->substituted[batch->n_substituted][0] = wanted;
    batch->substituted[batch->n_substituted++][1] = g->ids[g->at] = used;
    return data_pool_get(pool, (size_t)used, read, &err);
}

/* Makes a view of a row of the current sample, with zeros after it. */
static int
make_row(const struct views *views, const struct image *image,
         struct place place, int other, uint8_t *out, struct err *why)
{
    const struct data_wanted *want = &views->g->want;
    const struct data_row *row = other ? &want->pair_row : &want->row;
    const int64_t id = views->g->ids[views->g->at];
    struct rng rng;

    if (other) {
        rng_init(&rng, views->seed, RNG_CAPTION, (uint64_t)id, place.epoch, 0);
        image = data_pool_get(want->pair,
                              (size_t)id * want->pair_each +
                                  rng_below(&rng, want->pair_each),
                              NULL, why);
    }
    if (!image)
        return -1;
    if (image->width != (row->d * row->item + 2) / 3)
        return err_set(why, "sample %jd has not %zu numbers, as the first has",
                       (intmax_t)id, row->d);
    data_row_view(row, views->recipe, image->pixel, views->seed, (uint64_t)id,
                  place.epoch, place.view, out);
    memset(out + row->d * sizeof(float), 0,
           data_gather_bytes(want) - row->d * sizeof(float));
    return 0;
}

int
data_gather_next(struct data_gather *g, struct data_pool *pool,
                 const struct image_recipe *recipe, uint64_t seed,
                 uint64_t epoch, struct err *why)
{
    struct views views = {g, recipe, seed, epoch};
    const size_t area = data_gather_bytes(&g->want);
    const struct image *image;

    REQUIRE(recipe->size == g->want.size);
    if (g->at == g->want.batch.b + g->want.batch.extra.n)
        return 0;
    image = image_of(g, pool, &views, why);
    if (!image)
        return -1;
    for (size_t v = 0; v < count_views(&views); v++) {
        const struct place place = place_view(&views, v);
        const int64_t id = g->ids[g->at];
        const struct image_recipe *how = recipe_of_view(&views, v);
        const size_t large = g->want.batch.v * g->want.batch.b;

        if (g->want.make)
            g->want.make(g->want.of, image, id, place.epoch, place.view,
                         place.row);
        else if (g->want.row.d &&
                 make_row(&views, image, place,
                          g->want.pair && (v || g->at >= g->want.batch.b),
                          g->pixel + place.row * area, why))
            return -1;
        else if (!g->want.row.d)
            image_view(how, image, seed, (uint64_t)id, place.epoch, place.view,
                       &g->scratch,
                       how == recipe ? g->pixel + place.row * area
                                     : (uint8_t *)g->batch.small.pixels +
                                           (place.row - large) * how->size *
                                               how->size * 3);
    }
    g->at++;
    return 1;
}

void
data_gather_release(struct data_gather *g)
{
    mem_free(g->ids, g->pixel, g->batch.substituted);
    image_scratch_free(g->scratch);
    *g = (struct data_gather){0};
}

/* Returns 1 if one of the first n views of sample i is variant k. */
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
