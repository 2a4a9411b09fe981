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
prepare(const struct nn_graph *graph, const struct nn_plan *plan,
        struct nn_step *step)
{
    (void)graph;
    (void)plan;
    step->needs =
        (struct nn_needs){.reads = 1, .over = 1, .over_dy = 1, .again = 1};
    return 0;
}

static enum num_gelu
form_of(const struct nn_call *call)
{
    return *(const enum num_gelu *)call->step->op.set;
}

static void
forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_gelu_forward(form_of(call), num_map_size(&map), map.bf16, call->x[0],
                     call->y);
}

static void
backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    if (call->dx[0])
        num_gelu_backward(form_of(call), num_map_size(&map), map.bf16,
                          call->x[0], call->dy, call->dx[0]);
}

const struct nn_operator nn_op_gelu = {
    .name = "gelu",
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
    .again = forward,
};
