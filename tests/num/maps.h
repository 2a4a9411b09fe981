#pragma once

#include <math.h>
#include <stdlib.h>

#include "num/half.h"
#include "num/map.h"
#include "util/mem.h"
#include "util/rng.h"

/* n normal numbers; each use in a test has a different stream number. */
static inline float *
normal(size_t n, uint64_t use)
{
    float *x = mem_array(n, sizeof *x);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, use, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
    return x;
}

/* The largest error, in units of the rms of the expected. */
static inline double
worst(size_t n, const float *got, const float *want)
{
    double square = 0, off = 0;

    for (size_t i = 0; i < n; i++) {
        square += (double)want[i] * want[i];
        off = fmax(off, fabs((double)got[i] - want[i]));
    }
    return off / sqrt(square / (double)n + 1e-30);
}

/* The address of element (i, k, at) of a map, at = y w + x. */
static inline void *
map_at(const struct num_map *map, const void *data, size_t i, size_t k,
       size_t at)
{
    const size_t b = map->block, groups = map->c / b;

    return num_half_at(
        data, ((i * groups + k / b) * map->h * map->w + at) * b + k % b,
        map->bf16);
}

/* Fills a map from plain f32 NCHW; and back. */
static inline void
map_put(const struct num_map *map, const float *plain, void *data)
{
    for (size_t i = 0; i < map->n; i++)
        for (size_t k = 0; k < map->c; k++)
            for (size_t p = 0; p < map->h * map->w; p++)
                num_half_put(1, map->bf16, plain++, map_at(map, data, i, k, p));
}

static inline void
map_get(const struct num_map *map, const void *data, float *plain)
{
    for (size_t i = 0; i < map->n; i++)
        for (size_t k = 0; k < map->c; k++)
            for (size_t p = 0; p < map->h * map->w; p++)
                num_half_get(1, map->bf16, map_at(map, data, i, k, p), plain++);
}

/* Plain numbers as a map, which the caller frees; and an empty map. */
static inline void *
packed(const struct num_map *map, const float *plain)
{
    void *data = mem_aligned(num_map_bytes(map), 1);

    map_put(map, plain, data);
    return data;
}

static inline void *
empty(const struct num_map *map)
{
    return mem_aligned(num_map_bytes(map), 1);
}

/* Returns worst() of a map and plain numbers. */
static inline double
map_worst(const struct num_map *map, const void *data, const float *want)
{
    float *got = mem_array(num_map_size(map), sizeof *got);
    double off;

    map_get(map, data, got);
    off = worst(num_map_size(map), got, want);
    free(got);
    return off;
}

/* Rounds plain numbers as a map would, so that both sides start equal. */
static inline void
rounded(const struct num_map *map, float *plain)
{
    void *data = packed(map, plain);

    map_get(map, data, plain);
    free(data);
}
