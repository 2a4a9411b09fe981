#include "operator.h"

size_t
nn_graph_gelu(struct nn_graph *graph, size_t in, enum num_gelu form)
{
    return nn_graph_add_one(graph, &nn_op_gelu, in, nn_none,
                            graph->values[in].map, &form, sizeof form);
}

static enum num_gelu
gelu_form(const struct nn_call *call)
{
    return *(const enum num_gelu *)call->step->op.set;
}

static void
gelu_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_gelu_forward(gelu_form(call), num_map_size(&map), map.bf16, call->x[0],
                     call->y);
}

static void
gelu_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    if (call->dx[0])
        num_gelu_backward(gelu_form(call), num_map_size(&map), map.bf16,
                          call->x[0], call->dy, call->dx[0]);
}

const struct nn_operator nn_op_gelu = {
    .name = "gelu",
    .needs = {.reads = 1, .over = 1, .over_dy = 1, .recompute = 1},
    .forward = gelu_forward,
    .backward = gelu_backward,
    .recompute = gelu_forward,
};
