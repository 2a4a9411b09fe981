#include <stdlib.h>
#include <string.h>

#include "data/pool.h"
#include "util/mem.h"
#include "util/rng.h"

struct data_pool {
    struct data_set *set;
    struct data_pool_settings settings;
    struct image_decoder *decoder;
    struct data_bytes bytes;
    struct image image;    /* the latest one that is not cached */
    struct image **cached; /* [size] decoded images; NULL: none */
    uint8_t *bad;          /* [size] */
    size_t n_bad, cached_bytes;
    int unread; /* the latest sample could not be read */
};

struct data_pool *
data_pool_new(struct data_set *set, const struct data_pool_settings *how)
{
    struct data_pool *pool = mem_array(1, sizeof *pool);

    pool->set = set;
    pool->settings = *how;
    pool->cached = mem_array(data_size(set), sizeof(struct image *));
    pool->bad = mem_array(data_size(set), 1);
    return pool;
}

void
data_pool_free(struct data_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < data_size(pool->set); i++) {
        if (pool->cached[i])
            image_release(pool->cached[i]);
        free(pool->cached[i]);
    }
    mem_free(pool->cached, pool->bad);
    image_release(&pool->image);
    data_bytes_release(&pool->bytes);
    image_jpeg_free(pool->decoder);
    free(pool);
}

static int
has_room_for(const struct data_pool *pool, size_t width, size_t height)
{
    return 3 * width * height + sizeof(struct image) <=
           pool->settings.keep_bytes - pool->cached_bytes;
}

/* The region that the caller reads; all of the image if it will be cached. */
struct request {
    const struct data_pool *pool;
    const struct image_region *region;
};

static struct image_box
box_of_request(void *of, size_t width, size_t height)
{
    const struct request *request = of;
    const struct image_region *region = request->region;

    if (!region || has_room_for(request->pool, width, height))
        return (struct image_box){0, 0, width, height};
    return region->box(region->of, width, height);
}

/* Caches a copy of the image if there is room for it. */
static void
cache_image(struct data_pool *pool, size_t id)
{
    const struct image *image = &pool->image;
    size_t bytes = 3 * image->width * image->height;
    struct image *copy;

    if (!has_room_for(pool, image->width, image->height))
        return;
    copy = mem_array(1, sizeof *copy);
    image_size(copy, image->width, image->height);
    memcpy(copy->pixel, image->pixel, bytes);
    pool->cached[id] = copy;
    pool->cached_bytes += bytes + sizeof *copy;
}

const struct image *
data_pool_get(struct data_pool *pool, size_t id,
              const struct image_region *region, struct err *err)
{
    struct request request = {pool, region};
    const struct image_region read = {box_of_request, &request};
    struct err why;
    int rc;

    REQUIRE(id < data_size(pool->set));
    pool->unread = 0;
    if (pool->cached[id])
        return pool->cached[id];
    if (pool->settings.captioned && !*data_caption(pool->set, id)) {
        err_set(err, "sample '%s' has no caption", data_name(pool->set, id));
        goto bad;
    }
    rc = data_read(pool->set, id, &pool->bytes, err);
    pool->unread = rc == DATA_UNREAD;
    if (rc)
        goto bad;
    if (data_file(pool->set, id).codec == IMAGE_CODEC_ROW) {
        image_size(&pool->image, (pool->bytes.len + 2) / 3, 1);
        memcpy(pool->image.pixel, pool->bytes.data, pool->bytes.len);
        return &pool->image; // the system caches the file
    }
    if (image_codec_decode(&pool->decoder, pool->bytes.data, pool->bytes.len,
                           pool->settings.max_pixels, pool->settings.policy,
                           &read, &pool->image, &why)) {
        err_set(err, "sample '%s': %s", data_name(pool->set, id), why.msg);
        goto bad;
    }
    cache_image(pool, id);
    return &pool->image;

bad:
    if (!pool->unread) {
        pool->n_bad += !pool->bad[id];
        pool->bad[id] = 1;
    }
    return NULL;
}

int
data_pool_unread(const struct data_pool *pool)
{
    return pool->unread;
}

size_t
data_pool_bad(const struct data_pool *pool)
{
    return pool->n_bad;
}

static int
is_among(int64_t id, size_t n, const int64_t *ids)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return 1;
    return 0;
}

int64_t
data_pool_substitute(struct data_pool *pool, uint64_t seed, size_t id,
                     uint64_t epoch, size_t n, const int64_t *taken,
                     struct err *err)
{
    const size_t size = data_size(pool->set);
    struct rng rng;
    size_t start;

    rng_init(&rng, seed, RNG_SUBSTITUTE, id, epoch, 0);
    start = rng_below(&rng, size);
    for (size_t i = 0; i < size; i++) {
        size_t at = (start + i) % size;

        if (pool->bad[at] || is_among((int64_t)at, n, taken))
            continue;
        if (data_pool_get(pool, at, NULL, err))
            return (int64_t)at;
        if (pool->unread)
            return -1;
    }
    return err_set(err, "no sample is left to replace '%s'",
                   data_name(pool->set, id));
}
