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
    graph->ids = samples * views;
    return nn_graph_add(graph, op, nn_graph_rows(out));
}

static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    (void)statistics;
    nn_draw(graph, op->tensor, seed, 1, 0, params);
}

static int
prepare(const struct nn_graph *graph, const struct nn_plan *plan,
        struct nn_step *step)
{
    (void)graph;
    (void)plan;
    step->needs.reads = 1;
    return 0;
}

static void
forward(const struct nn_call *call)
{
    const struct nn_tensor *t = nn_tensor(call, 0);
    const size_t n = nn_map_out(call).n, width = t->shape[2];
    const float *table = nn_param(call, 0);
    const int32_t *ids = call->x[0];
    float *y = call->y;

    for (size_t i = 0; i < n; i++) {
        REQUIRE(ids[i] >= 0 && (size_t)ids[i] < t->count / width);
        memcpy(y + i * width, table + (size_t)ids[i] * width,
               width * sizeof *y);
    }
}

/* A row that was looked up twice gets both gradients. */
static void
backward(const struct nn_call *call)
{
    const struct nn_tensor *t = nn_tensor(call, 0);
    const size_t n = nn_map_out(call).n, width = t->shape[2];
    const int32_t *ids = call->x[0];
    const float *dy = call->dy;
    float *grads = nn_grad(call, 0);

    if (!call->add)
        memset(grads, 0, t->count * sizeof *grads);
    for (size_t i = 0; i < n; i++)
        num_axpy(width, 1, dy + i * width, grads + (size_t)ids[i] * width);
}

const struct nn_operator nn_op_table = {
    .name = "table",
    .init = init,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
