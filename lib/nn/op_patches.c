#include <string.h>

#include "num/half.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_patches(struct nn_graph *graph, size_t in, size_t p)
{
    const struct num_map map = graph->values[in].map;
    struct num_map rows = nn_graph_rows(map.c * p * p);

    REQUIRE(map.block == 1 && map.h % p == 0 && map.w % p == 0);
    rows.bf16 = map.bf16;
    graph->each = 1 + map.h / p * (map.w / p);
    graph->context = graph->each;
    return nn_graph_add_one(graph, &nn_op_patches, in, nn_none, rows, &p,
                            sizeof p);
}

/*
 * Copies the pixels of an image to its patches, or back: `image` has c h w
 * numbers, `rows` c p p for each token.
 */
static void
copy_patch(const struct num_map *map, size_t p, int back, void *image,
           void *rows)
{
    const size_t across = map->w / p, bytes = num_half_bytes(p, map->bf16);

    for (size_t k = 0; k < map->c; k++)
        for (size_t y = 0; y < map->h; y++)
            for (size_t x = 0; x < across; x++) {
                const size_t patch = 1 + y / p * across + x;
                void *in = num_half_at(image, (k * map->h + y) * map->w + x * p,
                                       map->bf16);
                void *out = num_half_at(
                    rows, ((patch * map->c + k) * p + y % p) * p, map->bf16);

                memcpy(back ? in : out, back ? out : in, bytes);
            }
}

/* Copies all images x to their patches y, or back. */
static void
copy_patches(const struct nn_call *call, int back, const void *x, const void *y)
{
    const struct num_map map = nn_map_in(call, 0);
    const size_t p = *(const size_t *)call->step->op.set;
    const size_t image = map.c * map.h * map.w;
    const size_t token = map.c * p * p, rows = call->graph->each * token;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map.n; i++) {
        void *first = num_half_at(y, i * rows, map.bf16);

        if (!back) // the place of the class token
            memset(first, 0, num_half_bytes(token, map.bf16));
        copy_patch(&map, p, back, num_half_at(x, i * image, map.bf16), first);
    }
}

static void
patches_forward(const struct nn_call *call)
{
    copy_patches(call, 0, call->x[0], call->y);
}

static void
patches_backward(const struct nn_call *call)
{
    if (call->dx[0])
        copy_patches(call, 1, call->dx[0], call->dy);
}

const struct nn_operator nn_op_patches = {
    .name = "patches",
    .splits = 1,
    .forward = patches_forward,
    .backward = patches_backward,
};
