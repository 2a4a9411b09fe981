#include <string.h>

#include "util/err.h"
#include "util/mem.h"

#include "plan.h"

size_t
nn_graph_patches(struct nn_graph *graph, size_t in, size_t p)
{
    const struct num_map map = graph->values[in].map;
    size_t *set = mem_array(1, sizeof *set);

    REQUIRE(!map.bf16 && map.block == 1 && map.h % p == 0 && map.w % p == 0);
    *set = p;
    graph->each = 1 + map.h / p * (map.w / p);
    graph->context = graph->each;
    return nn_graph_add(graph,
                        (struct nn_op){.is = &nn_op_patches,
                                       .n_in = 1,
                                       .in = {in},
                                       .tensor = nn_none,
                                       .set = set},
                        nn_graph_rows(map.c * p * p));
}

/*
 * Rows of p pixels, as they lie in an image and in a patch, go one way or the
 * other: `image` is one of c h w numbers, `rows` the c p p of each token.
 */
static void
cut(const struct num_map *map, size_t p, int back, float *image, float *rows)
{
    const size_t across = map->w / p;

    for (size_t k = 0; k < map->c; k++)
        for (size_t y = 0; y < map->h; y++)
            for (size_t x = 0; x < across; x++) {
                const size_t patch = 1 + y / p * across + x;
                float *in = image + (k * map->h + y) * map->w + x * p;
                float *out = rows + ((patch * map->c + k) * p + y % p) * p;

                memcpy(back ? in : out, back ? out : in, p * sizeof *in);
            }
}

static void
forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_in(call, 0);
    const size_t p = *(const size_t *)call->step->op.set;
    const size_t image = map.c * map.h * map.w, d = map.c * p * p;
    const size_t each = call->graph->each;
    const float *x = call->x[0];
    float *y = call->y;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map.n; i++) {
        memset(y + i * each * d, 0, d * sizeof *y);
        cut(&map, p, 0, (float *)x + i * image, y + i * each * d);
    }
}

static void
backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_in(call, 0);
    const size_t p = *(const size_t *)call->step->op.set;
    const size_t image = map.c * map.h * map.w, d = map.c * p * p;
    const float *dy = call->dy;
    float *dx = call->dx[0];

    for (size_t i = 0; dx && i < map.n; i++)
        cut(&map, p, 1, dx + i * image,
            (float *)dy + i * call->graph->each * d);
}

const struct nn_operator nn_op_patches = {
    .name = "patches",
    .splits = 1,
    .forward = forward,
    .backward = backward,
};
