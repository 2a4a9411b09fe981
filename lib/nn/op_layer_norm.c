#include "num/tokens.h"
#include "util/err.h"

#include "operator.h"

size_t
nn_graph_layer_norm_tensors(struct nn_graph *graph, const char *name, size_t c)
{
    size_t first = nn_graph_tensor(graph, name, "weight", 0, 1, &c);

    graph->initial[first].value = 1;
    nn_graph_tensor(graph, name, "bias", 0, 1, &c);
    return first;
}

size_t
nn_graph_layer_norm(struct nn_graph *graph, size_t in, size_t tensor,
                    double epsilon)
{
    const struct num_map map = graph->values[in].map;

    REQUIRE(map.h * map.w == 1);
    return nn_graph_add_one(graph, &nn_op_layer_norm, in, tensor, map, &epsilon,
                            sizeof epsilon);
}

static int
layer_norm_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
                   struct nn_step *step)
{
    step->needs = (struct nn_needs){
        .state = 2 * nn_map(graph, plan, step->op.out).n * sizeof(float),
        .reads = 1,
        .over = 1,
        .over_dy = 1,
        .recompute = 1,
    };
    return 0;
}

static struct num_layer_norm
layer_norm_args(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    return (struct num_layer_norm){
        .n = map.n,
        .d = map.c,
        .bf16 = map.bf16,
        .epsilon = *(const double *)call->step->op.set,
        .x = call->x[0],
        .gamma = nn_param(call, 0),
        .beta = nn_param(call, 1),
        .y = call->y,
        .mean = call->state,
        .rstd = (float *)call->state + map.n,
    };
}

static void
layer_norm_forward(const struct nn_call *call)
{
    const struct num_layer_norm args = layer_norm_args(call);

    num_layer_norm_forward(&args);
}

static void
layer_norm_backward(const struct nn_call *call)
{
    struct num_layer_norm args = layer_norm_args(call);

    args.dy = call->dy;
    args.dx = call->dx[0];
    args.dgamma = nn_grad(call, 0);
    args.dbeta = nn_grad(call, 1);
    args.add = call->add;
    num_layer_norm_backward(&args);
}

const struct nn_operator nn_op_layer_norm = {
    .name = "layer_norm",
    .prepare = layer_norm_prepare,
    .forward = layer_norm_forward,
    .backward = layer_norm_backward,
    .recompute = layer_norm_forward,
};
