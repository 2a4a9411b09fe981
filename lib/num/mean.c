#include "lanes.h"
#include "num/pool.h"
#include "planes.h"

/* The bytes of one plane, and where plane `at` begins. */
static const void *
plane_at(const struct num_map *map, const void *data, size_t at)
{
    size_t size = map->h * map->w * map->block;

    return (const uint8_t *)data + at * size * (map->bf16 ? 2 : 4);
}

void
num_mean(const struct num_map *map, const void *x, float *h)
{
    size_t b = map->block, pixels = map->h * map->w;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * map->c / b; at++) {
        float sum[LANES];

        planes_sum(pixels * b, map->bf16, plane_at(map, x, at), sum);
        for (size_t j = 0; j < b; j++) {
            double all = 0;

            for (size_t l = j; l < LANES; l += b)
                all += sum[l];
            h[at * b + j] = (float)(all / (double)pixels);
        }
    }
}

void
num_mean_back(const struct num_map *map, const float *dh, void *dx)
{
    size_t b = map->block, pixels = map->h * map->w;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * map->c / b; at++) {
        float value[LANES];

        for (size_t l = 0; l < LANES; l++)
            value[l] = dh[at * b + l % b] / (float)pixels;
        planes_fill(pixels * b, map->bf16, value,
                    (void *)plane_at(map, dx, at));
    }
}
