#ifndef NUM_PLANES_H
#define NUM_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "num/map.h"

#include "level.h"

/*
 * The loops of norms and means over one plane: the `size` elements of one
 * image in one group of `block` channels, which lie in a row.  Arrays of 16
 * hold one number for each lane (lanes.h); lane l belongs to channel l % block.
 * Maps are f32, or bfloat16 with bf16 = 1.
 */

/* planes_count(), planes_size() return how many planes an image has, and the
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

/* planes_at() returns where plane (i, g) begins: image i, group g.  NULL of no
 * data. */
static inline void *
planes_at(const struct num_map *map, const void *data, size_t i, size_t g)
{
    size_t at = (i * planes_count(map) + g) * planes_size(map);
    size_t width = map->bf16 ? sizeof(uint16_t) : sizeof(float);

    return data ? (uint8_t *)data + at * width : NULL;
}

/*
 * What flows back into a plane: g = dy + dy2 where the plane's output was
 * positive, else 0.  dy2 may be NULL.  The output is y; or, where nothing was
 * added to it, it is scale (x - centre) + shift again, which costs less than
 * reading it; or all of it counts, when both are NULL.
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

    /* sum g and sum g (x - centre) by lane, and g itself in `kept`, where that
     * is not NULL */
    void (*back_measure)(size_t size, int bf16, struct num_planes_flow flow,
                         const void *x, const float *centre, void *kept,
                         float *sum, float *along);

    /* dx = p g + q (x - centre) + s */
    void (*back)(size_t size, int bf16, struct num_planes_flow flow,
                 const void *x, const float *centre, const float *p,
                 const float *q, const float *s, void *dx);

    /* kept = g, without scale */
    void (*flow)(size_t size, int bf16, struct num_planes_flow flow,
                 void *kept);

    /* sum x by lane; y = value */
    void (*sum)(size_t size, int bf16, const void *x, float *sum);
    void (*fill)(size_t size, int bf16, const float *value, void *y);
};

LEVELS(num_planes)

#endif
