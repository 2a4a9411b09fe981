#include <string.h>

#include "num/vec.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_class_token(struct nn_graph *graph, size_t in, const char *name)
{
    const struct num_map map = graph->values[in].map;
    size_t tensor =
        nn_graph_tensor(graph, name, NULL, 0, 3, (size_t[]){1, 1, map.c});

    REQUIRE(graph->values[in].tokens && !map.bf16);
    graph->tensors[tensor].decays = 0;
    return nn_graph_add(
        graph,
        (struct nn_op){
            .is = &nn_op_class_token, .n_in = 1, .in = {in}, .tensor = tensor},
        map);
}

static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    (void)seed;
    (void)statistics;
    nn_fill(graph, op->tensor, 0, params);
}

static int
prepare(const struct nn_graph *graph, const struct nn_plan *plan,
        struct nn_step *step)
{
    (void)graph;
    (void)plan;
    step->needs = (struct nn_needs){.over = 1, .over_dy = 1};
    return 0;
}

static void
forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    float *y = call->y;

    if (y != call->x[0])
        memcpy(y, call->x[0], num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        memcpy(y + call->offsets[i] * map.c, nn_param(call, 0),
               map.c * sizeof *y);
}

static void
backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    const float *dy = call->dy;
    float *dclass = nn_grad(call, 0), *dx = call->dx[0];

    if (!call->add)
        memset(dclass, 0, map.c * sizeof *dclass);
    for (size_t i = 0; i < call->plan->n; i++)
        num_axpy(map.c, 1, dy + call->offsets[i] * map.c, dclass);
    if (!dx)
        return;
    if (dx != dy)
        memcpy(dx, dy, num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        memset(dx + call->offsets[i] * map.c, 0, map.c * sizeof *dx);
}

const struct nn_operator nn_op_class_token = {
    .name = "class_token",
    .init = init,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
