#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "plan.h"

struct num_map
nn_plan_map(const struct nn_graph *graph, const struct nn_plan *plan,
            size_t value)
{
    struct num_map map = graph->values[value];

    map.n = plan->n;
    return map;
}

/*
 * The table: Winograd for 3x3 at stride 1 with enough channels that its
 * transforms are paid for, and maps that fill its tiles of 4x4 (measured
 * on AVX-512 with 64 images; lib/num/conv.c takes direct elsewhere).
 */
static int
winograd_pays(const struct num_conv_spec *spec)
{
    return spec->kernel == 3 && spec->stride == 1 && !spec->in.bf16 &&
           spec->in.block == 16 && spec->in.c >= 32 && spec->out >= 32 &&
           spec->in.h >= 4 && spec->in.w >= 4;
}

static int
make_conv(struct nn_plan *plan, const struct nn_graph *graph,
          struct num_dnn *dnn, size_t i, int direct)
{
    const struct nn_op *op = &graph->ops[i];
    const struct nn_op *next = i + 1 < graph->n_ops ? op + 1 : NULL;
    struct num_map out = nn_plan_map(graph, plan, op->out);
    struct num_conv_spec spec = {
        .in = nn_plan_map(graph, plan, op->in),
        .out = out.c,
        .block = out.block,
        .kernel = op->kernel,
        .stride = op->stride,
        .pad = op->pad,
        .bias = op->bias,
        .train = plan->train,
        .back_data = plan->train && op->in != 0,
    };

    if (!plan->train && next && next->kind == NN_OP_NORM &&
        next->in == op->out && next->norm != NUM_NORM_GROUP) {
        plan->steps[i + 1].skip = 1;
        spec.bias = 1;
        spec.relu = next->relu;
        spec.add = next->add != nn_none;
    }
    for (int pass = 0; pass < 3; pass++)
        spec.winograd[pass] = !direct && winograd_pays(&spec);
    plan->steps[i].conv = num_conv_new(dnn, &spec);
    return plan->steps[i].conv ? 0 : -1;
}

static int
make_pool(struct nn_plan *plan, const struct nn_graph *graph,
          struct num_dnn *dnn, size_t i)
{
    const struct nn_op *op = &graph->ops[i];
    struct num_pool_spec spec = {
        .in = nn_plan_map(graph, plan, op->in),
        .kernel = op->kernel,
        .stride = op->stride,
        .pad = op->pad,
        .train = plan->train,
    };

    plan->steps[i].pool = num_pool_new(dnn, &spec);
    return plan->steps[i].pool ? 0 : -1;
}

/* The primitive of one operator, and the scratch it wants. */
static int
make_step(struct nn_plan *plan, const struct nn_graph *graph,
          struct num_dnn *dnn, size_t i, int direct)
{
    const struct nn_op *op = &graph->ops[i];
    struct nn_step *step = &plan->steps[i];

    if (op->kind == NN_OP_CONV) {
        if (make_conv(plan, graph, dnn, i, direct))
            return -1;
        step->need = num_conv_scratch(step->conv);
    } else if (op->kind == NN_OP_MAX) {
        if (make_pool(plan, graph, dnn, i))
            return -1;
        step->need = num_pool_scratch(step->pool);
    } else if (op->kind == NN_OP_NORM) {
        step->norm = (struct num_norm){
            op->norm, nn_plan_map(graph, plan, op->out), op->groups, op->relu};
        step->need = num_norm_work(&step->norm) * sizeof(double);
    }
    return 0;
}

struct nn_plan *
nn_plan_new(const struct nn_graph *graph, struct num_dnn *dnn, size_t n,
            int train, int direct)
{
    struct nn_plan *plan = mem_array(1, sizeof *plan);

    plan->n = n;
    plan->train = train;
    plan->n_steps = graph->n_ops;
    plan->steps = mem_array(graph->n_ops, sizeof *plan->steps);
    for (size_t i = 0; i < graph->n_ops; i++)
        if (make_step(plan, graph, dnn, i, direct)) {
            nn_plan_free(plan);
            return NULL;
        }
    nn_plan_place(plan, graph);
    return plan;
}

void
nn_plan_free(struct nn_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_steps; i++) {
        num_conv_free(plan->steps[i].conv);
        num_pool_free(plan->steps[i].pool);
    }
    free(plan->steps);
    free(plan);
}
