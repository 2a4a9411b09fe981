#include <string.h>

#include "num/vec.h"

#include "plan.h"

size_t
nn_graph_token_mean(struct nn_graph *graph, size_t in)
{
    return nn_graph_add(
        graph,
        (struct nn_op){
            .is = &nn_op_token_mean, .n_in = 1, .in = {in}, .tensor = nn_none},
        graph->values[in].map);
}

static void
forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    const float *x = call->x[0];
    float *y = call->y;

    memset(y, 0, num_map_bytes(&map));
    for (size_t i = 0; i < map.n; i++, y += d) {
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            num_axpy(d, 1, x + t * d, y);
        num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), y);
    }
}

static void
backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    const float *dy = call->dy;
    float *dx = call->dx[0];

    for (size_t i = 0; dx && i < map.n; i++, dy += d)
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++) {
            memcpy(dx + t * d, dy, d * sizeof *dy);
            num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), dx + t * d);
        }
}

const struct nn_operator nn_op_token_mean = {
    .name = "token_mean",
    .pools = 1,
    .forward = forward,
    .backward = backward,
};
