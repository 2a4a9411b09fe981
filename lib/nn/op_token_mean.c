#include <string.h>

#include "num/half.h"
#include "num/vec.h"

#include "plan.h"

size_t
nn_graph_token_mean(struct nn_graph *graph, size_t in)
{
    struct num_map map = graph->values[in].map;

    map.bf16 = 0;
    return nn_graph_add_one(graph, &nn_op_token_mean, in, nn_none, map, NULL,
                            0);
}

static int
token_mean_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
                   struct nn_step *step)
{
    (void)plan;
    step->needs = (struct nn_needs){
        .scratch = graph->values[step->op.out].map.c * sizeof(float)};
    return 0;
}

static void
token_mean_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    float *y = call->y;

    memset(y, 0, num_map_bytes(&map));
    for (size_t i = 0; i < map.n; i++, y += d) {
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            num_half_axpy(d, in.bf16, 1,
                          num_half_at(call->x[0], t * d, in.bf16), y);
        num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), y);
    }
}

static void
token_mean_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    const float *dy = call->dy;
    float *each = call->scratch;

    for (size_t i = 0; call->dx[0] && i < map.n; i++, dy += d) {
        memcpy(each, dy, d * sizeof *dy);
        num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), each);
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            num_half_put(d, in.bf16, each,
                         num_half_at(call->dx[0], t * d, in.bf16));
    }
}

const struct nn_operator nn_op_token_mean = {
    .name = "token_mean",
    .pools = 1,
    .prepare = token_mean_prepare,
    .forward = token_mean_forward,
    .backward = token_mean_backward,
};
