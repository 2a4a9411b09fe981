#include "util/mem.h"

#include "plan.h"

size_t
nn_graph_gelu(struct nn_graph *graph, size_t in, enum num_gelu form)
{
    enum num_gelu *set = mem_array(1, sizeof *set);

    *set = form;
    return nn_graph_add(graph,
                        (struct nn_op){.is = &nn_op_gelu,
                                       .n_in = 1,
                                       .in = {in},
                                       .tensor = nn_none,
                                       .set = set},
                        graph->values[in].map);
}

static int
gelu_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
             struct nn_step *step)
{
    (void)graph;
    (void)plan;
    step->needs =
        (struct nn_needs){.reads = 1, .over = 1, .over_dy = 1, .recompute = 1};
    return 0;
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
    .prepare = gelu_prepare,
    .forward = gelu_forward,
    .backward = gelu_backward,
    .recompute = gelu_forward,
};
