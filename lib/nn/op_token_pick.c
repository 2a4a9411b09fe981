#include <string.h>

#include "num/half.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_token_pick(struct nn_graph *graph, size_t in, enum nn_pick which)
{
    struct num_map map = graph->values[in].map;

    REQUIRE(graph->values[in].tokens);
    map.bf16 = 0;
    return nn_graph_add_one(graph, &nn_op_token_pick, in, nn_none, map, &which,
                            sizeof which);
}

/* The index of the picked token of sample i. */
static size_t
picked_token(const struct nn_call *call, size_t i)
{
    const enum nn_pick *set = call->step->op.set;

    return *set == NN_FIRST ? call->offsets[i] : call->offsets[i + 1] - 1;
}

static void
token_pick_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w;
    float *y = call->y;

    for (size_t i = 0; i < map.n; i++)
        num_half_get(
            d, in.bf16,
            num_half_at(call->x[0], picked_token(call, i) * d, in.bf16),
            y + i * d);
}

static void
token_pick_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w;
    const float *dy = call->dy;
    void *dx = call->dx[0];

    if (!dx)
        return;
    memset(dx, 0, num_map_bytes(&in));
    for (size_t i = 0; i < map.n; i++)
        num_half_put(d, in.bf16, dy + i * d,
                     num_half_at(dx, picked_token(call, i) * d, in.bf16));
}

const struct nn_operator nn_op_token_pick = {
    .name = "token_pick",
    .pools = 1,
    .forward = token_pick_forward,
    .backward = token_pick_backward,
};
