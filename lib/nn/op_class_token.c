#include <string.h>

#include "num/half.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_class_token(struct nn_graph *graph, size_t in, const char *name)
{
    const struct num_map map = graph->values[in].map;
    size_t tensor =
        nn_graph_tensor(graph, name, NULL, 0, 3, (size_t[]){1, 1, map.c});

    REQUIRE(graph->values[in].tokens);
    graph->tensors[tensor].decays = 0;
    return nn_graph_add_one(graph, &nn_op_class_token, in, tensor, map, NULL,
                            0);
}

static void
class_token_init(const struct nn_graph *graph, const struct nn_op *op,
                 uint64_t seed, float *params, float *statistics)
{
    (void)seed;
    (void)statistics;
    nn_fill(graph, op->tensor, 0, params);
}

/* Where the class token of sample i is in an array. */
static void *
class_token_at(const struct nn_call *call, const void *x, size_t i)
{
    const struct num_map map = nn_map_out(call);

    return num_half_at(x, call->offsets[i] * map.c, map.bf16);
}

static void
class_token_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    if (call->y != call->x[0])
        memcpy(call->y, call->x[0], num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        num_half_put(map.c, map.bf16, nn_param(call, 0),
                     class_token_at(call, call->y, i));
}

static void
class_token_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    float *dclass = nn_grad(call, 0);
    void *dx = call->dx[0];

    if (!call->add)
        memset(dclass, 0, map.c * sizeof *dclass);
    for (size_t i = 0; i < call->plan->n; i++)
        num_half_axpy(map.c, map.bf16, 1, class_token_at(call, call->dy, i),
                      dclass);
    if (!dx)
        return;
    if (dx != call->dy)
        memcpy(dx, call->dy, num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        memset(class_token_at(call, dx, i), 0, num_half_bytes(map.c, map.bf16));
}

const struct nn_operator nn_op_class_token = {
    .name = "class_token",
    .init = class_token_init,
    .needs = {.over = 1, .over_dy = 1},
    .forward = class_token_forward,
    .backward = class_token_backward,
};
