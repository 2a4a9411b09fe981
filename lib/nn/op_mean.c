#include "num/pool.h"

#include "plan.h"

size_t
nn_graph_mean(struct nn_graph *graph, size_t in)
{
    return nn_graph_add_one(graph, &nn_op_mean, in, nn_none,
                            nn_graph_rows(graph->values[in].map.c), NULL, 0);
}

static void
mean_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_in(call, 0);

    num_mean(&map, call->x[0], call->y);
}

static void
mean_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_in(call, 0);

    if (call->dx[0])
        num_mean_back(&map, call->dy, call->dx[0]);
}

static int
mean_onnx(struct nn_onnx *to, const struct nn_op *op)
{
    char in[NN_ONNX_NAME], pooled[NN_ONNX_NAME], out[NN_ONNX_NAME];

    nn_onnx_value(op->in[0], in);
    nn_onnx_node(
        to, &(struct nn_onnx_node){.type = "GlobalAveragePool", .in = {in}},
        nn_onnx_new(to, pooled));
    nn_onnx_node(to, &(struct nn_onnx_node){.type = "Flatten", .in = {pooled}},
                 nn_onnx_value(op->out, out));
    return 0;
}

const struct nn_operator nn_op_mean = {
    .name = "mean",
    .onnx = mean_onnx,
    .forward = mean_forward,
    .backward = mean_backward,
};
