#include <string.h>

#include "num/tokens.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_position(struct nn_graph *graph, size_t in, const char *name, int one,
                  double deviation)
{
    const struct num_map map = graph->values[in].map;
    const size_t shape[] = {1, graph->context, map.c};
    size_t tensor =
        nn_graph_tensor(graph, name, NULL, 0, one ? 3 : 2, shape + !one);

    REQUIRE(graph->values[in].tokens && graph->context);
    graph->tensors[tensor].decays = 0;
    return nn_graph_add_one(graph, &nn_op_position, in, tensor, map, &deviation,
                            sizeof deviation);
}

static void
position_init(const struct nn_graph *graph, const struct nn_op *op,
              uint64_t seed, float *params, float *statistics)
{
    (void)statistics;
    nn_draw(graph, op->tensor, seed, *(const double *)op->set, 0, params);
}

static void
position_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_position(call->plan->n, call->offsets, map.c, map.bf16,
                 nn_param(call, 0), call->x[0], call->y);
}

static void
position_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_position_back(call->plan->n, call->offsets, call->graph->context, map.c,
                      map.bf16, call->dy, call->add, nn_grad(call, 0));
    if (call->dx[0] && call->dx[0] != call->dy)
        memcpy(call->dx[0], call->dy, num_map_bytes(&map));
}

const struct nn_operator nn_op_position = {
    .name = "position",
    .init = position_init,
    .needs = {.over = 1, .over_dy = 1},
    .forward = position_forward,
    .backward = position_backward,
};
