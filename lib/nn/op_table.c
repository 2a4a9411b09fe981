#include <string.h>

#include "num/vec.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_table(struct nn_graph *graph, size_t in, size_t samples, size_t views,
               size_t out)
{
    struct nn_op op = {.is = &nn_op_table, .n_in = 1, .in = {in}};

    op.tensor = nn_graph_tensor(graph, "table", "weight", 0, 3,
                                (size_t[]){samples, views, out});
    graph->keys = samples * views;
    return nn_graph_add(graph, op, nn_graph_rows(out));
}

static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    (void)statistics;
    nn_draw(graph, op->tensor, seed, 1, 0, params);
}

static void
forward(const struct nn_call *call)
{
    const size_t n = nn_map_out(call).n, width = nn_tensor(call, 0)->shape[2];
    const float *table = nn_param(call, 0);
    float *y = call->y;

    for (size_t i = 0; i < n; i++) {
        REQUIRE(call->keys[i] < call->graph->keys);
        memcpy(y + i * width, table + call->keys[i] * width, width * sizeof *y);
    }
}

/* A row that was picked twice gets both gradients. */
static void
backward(const struct nn_call *call)
{
    const size_t n = nn_map_out(call).n, width = nn_tensor(call, 0)->shape[2];
    const float *dy = call->dy;
    float *grads = nn_grad(call, 0);

    if (!call->add)
        memset(grads, 0, nn_tensor(call, 0)->count * sizeof *grads);
    for (size_t i = 0; i < n; i++)
        num_axpy(width, 1, dy + i * width, grads + call->keys[i] * width);
}

const struct nn_operator nn_op_table = {
    .name = "table",
    .init = init,
    .forward = forward,
    .backward = backward,
};
