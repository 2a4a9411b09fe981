#include "num/map.h"
#include "num/half.h"
#include "util/err.h"
#include "util/isa.h"

#include "lanes.h"
#include "planes.h"

/* Numbers of a unit of parallel work: whole lines of planes.h. */
enum { CHUNK = 4096 };

size_t
num_map_block(size_t c)
{
    if (util_isa() == UTIL_ISA_V4 && c % 16 == 0)
        return 16;
    return c % 8 == 0 ? 8 : 1;
}

size_t
num_map_size(const struct num_map *map)
{
    return map->n * map->c * map->h * map->w;
}

size_t
num_map_bytes(const struct num_map *map)
{
    return num_half_bytes(num_map_size(map), map->bf16);
}

void
num_map_pixels(const struct num_map *map, const uint8_t *u, const float *mean,
               const float *deviation, void *data)
{
    size_t c = map->c, pixels = map->h * map->w;
    uint16_t half[4][256];
    float value[4][256];

    REQUIRE(map->block == 1 && c <= 4);
    for (size_t k = 0; k < c; k++)
        for (int level = 0; level < 256; level++) {
            float x = (float)((level / 255. - mean[k]) / deviation[k]);

            value[k][level] = x;
            half[k][level] = half_of(x);
        }

#pragma omp parallel for schedule(static)
    for (size_t plane = 0; plane < map->n * c; plane++) {
        size_t k = plane % c, at = plane * pixels;
        const uint8_t *from = u + plane / c * pixels * c + k;

        if (map->bf16)
            for (size_t p = 0; p < pixels; p++)
                ((uint16_t *)data)[at + p] = half[k][from[p * c]];
        else
            for (size_t p = 0; p < pixels; p++)
                ((float *)data)[at + p] = value[k][from[p * c]];
    }
}

void
num_map_add(const struct num_map *map, const void *x, void *y)
{
    const size_t n = num_map_size(map);

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < n; at += CHUNK) {
        void *to = num_half_at(y, at, map->bf16);

        num_planes()->flow(num_least(CHUNK, n - at), map->bf16,
                           (struct num_planes_flow){
                               .dy = to, .dy2 = num_half_at(x, at, map->bf16)},
                           to);
    }
}
