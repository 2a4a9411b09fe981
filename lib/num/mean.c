#include "num/pool.h"

#include "lanes.h"
#include "planes.h"

void
num_mean(const struct num_map *map, const void *x, float *h)
{
    size_t b = map->block;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * planes_count(map); at++) {
        float sum[LANES];

        num_planes()->sum(planes_size(map), map->bf16, planes_at(map, x, 0, at),
                          sum);
        for (size_t j = 0; j < b; j++) {
            double all = 0;

            for (size_t l = j; l < LANES; l += b)
                all += sum[l];
            h[at * b + j] = (float)(all / (double)(map->h * map->w));
        }
    }
}

void
num_mean_back(const struct num_map *map, const float *dh, void *dx)
{
    float pixels = (float)(map->h * map->w);

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * planes_count(map); at++) {
        float value[LANES];

        for (size_t l = 0; l < LANES; l++)
            value[l] = dh[at * map->block + l % map->block] / pixels;
        num_planes()->fill(planes_size(map), map->bf16, value,
                           planes_at(map, dx, 0, at));
    }
}
