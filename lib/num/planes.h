#pragma once

#include <stddef.h>

#include "num/half.h"
#include "num/map.h"

#include "level.h"

/*
 * The loops of norms and means over one plane: the `size` adjacent elements of
 * one image in one group of `block` channels.  Arrays of 16 have one number for
 * each lane (lanes.h); lane l belongs to channel l % block.  Maps are f32, or
 * bfloat16 with bf16 = 1.
 */

/* planes_count() returns the number of planes of an image, planes_size() the
 * elements of one. */
static inline size_t
planes_count(const struct num_map *map)
{
    return map->c / map->block;
}

static inline size_t
planes_size(const struct num_map *map)
{
    return map->h * map->w * map->block;
}

/* planes_at() returns the address of plane (i, g), image i, group g; NULL if
 * data is NULL. */
static inline void *
planes_at(const struct num_map *map, const void *data, size_t i, size_t g)
{
    const size_t at = (i * planes_count(map) + g) * planes_size(map);

    return data ? num_half_at(data, at, map->bf16) : NULL;
}

/*
 * The gradient of a plane before the activation: g = dy + dy2 where the output
 * was positive, else 0.  dy2 may be NULL.  The sign of the output is that of y,
 * or of scale (x - centre) + shift, which costs less than reading y; if both
 * are NULL, g is dy + dy2 everywhere.
 */
struct num_planes_flow {
    const void *dy, *dy2, *y;
    const float *scale, *shift;
};

/* The loops for one instruction set; all give the same bits. */
struct num_planes {
    /* sum d and sum d^2 by lane, d = x - centre */
    void (*measure)(size_t size, int bf16, const void *x, const float *centre,
                    float *sum, float *square);

    /* y = scale (x - centre) + shift + add, clipped below at 0 with relu; add
     * may be NULL */
    void (*apply)(size_t size, int bf16, const void *x, const float *scale,
                  const float *centre, const float *shift, const void *add,
                  int relu, void *y);

    /* sum g and sum g (x - centre) by lane; g itself to `out`, unless NULL */
    void (*back_measure)(size_t size, int bf16, struct num_planes_flow flow,
                         const void *x, const float *centre, void *out,
                         float *sum, float *along);

    /* dx = p g + q (x - centre) + s */
    void (*back)(size_t size, int bf16, struct num_planes_flow flow,
                 const void *x, const float *centre, const float *p,
                 const float *q, const float *s, void *dx);

    /* out = g; flow.scale must be NULL */
    void (*flow)(size_t size, int bf16, struct num_planes_flow flow, void *out);

    /* sum x by lane; y = value */
    void (*sum)(size_t size, int bf16, const void *x, float *sum);
    void (*fill)(size_t size, int bf16, const float *value, void *y);
};

LEVELS(num_planes)
