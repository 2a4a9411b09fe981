#include "num/pool.h"

#include "operator.h"

struct window {
    size_t kernel, stride;
};

size_t
nn_graph_max(struct nn_graph *graph, size_t in, size_t kernel, size_t stride)
{
    const struct window set = {kernel, stride};
    const struct num_pool_spec spec = {.in = graph->values[in].map,
                                       .kernel = kernel,
                                       .stride = stride,
                                       .pad = kernel / 2};

    return nn_graph_add_one(graph, &nn_op_max, in, nn_none, num_pool_out(&spec),
                            &set, sizeof set);
}

static int
max_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
            struct nn_step *step)
{
    const struct window *set = step->op.set;
    const struct num_pool_spec spec = {
        .in = nn_map(graph, plan, step->op.in[0]),
        .kernel = set->kernel,
        .stride = set->stride,
        .pad = set->kernel / 2,
        .train = plan->train,
    };

    step->made = num_pool_new(plan->dnn, &spec);
    if (!step->made)
        return -1;
    step->needs.scratch = num_pool_scratch(step->made);
    step->needs.state = plan->train ? num_pool_argmax_bytes(step->made) : 0;
    return 0;
}

static void
max_release(struct nn_step *step)
{
    num_pool_free(step->made);
}

static void
max_forward(const struct nn_call *call)
{
    num_pool_forward(call->step->made, call->x[0], call->y, call->state,
                     call->scratch);
}

static void
max_backward(const struct nn_call *call)
{
    if (call->dx[0])
        num_pool_backward(call->step->made, call->dy, call->state, call->dx[0],
                          call->scratch);
}

static int
max_onnx(struct nn_onnx *to, const struct nn_op *op)
{
    const struct window *set = op->set;
    const int64_t k = (int64_t)set->kernel, s = (int64_t)set->stride, p = k / 2;

    nn_onnx_node(to,
                 &(struct nn_onnx_node){"MaxPool",
                                        {nn_onnx_value(to, op->in[0])},
                                        {{"kernel_shape", 2, 0, {k, k}, 1},
                                         {"strides", 2, 0, {s, s}, 1},
                                         {"pads", 4, 0, {p, p, p, p}, 1}}},
                 nn_onnx_value(to, op->out));
    return 0;
}

const struct nn_operator nn_op_max = {
    .name = "max",
    .onnx = max_onnx,
    .prepare = max_prepare,
    .release = max_release,
    .forward = max_forward,
    .backward = max_backward,
};

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
    const char *pooled = nn_onnx_node(
        to,
        &(struct nn_onnx_node){.type = "GlobalAveragePool",
                               .in = {nn_onnx_value(to, op->in[0])}},
        nn_onnx_new(to));

    nn_onnx_node(to, &(struct nn_onnx_node){.type = "Flatten", .in = {pooled}},
                 nn_onnx_value(to, op->out));
    return 0;
}

const struct nn_operator nn_op_mean = {
    .name = "mean",
    .onnx = mean_onnx,
    .forward = mean_forward,
    .backward = mean_backward,
};
