#include "operator.h"
#include "plan.h"

struct num_map
nn_map(const struct nn_graph *graph, const struct nn_plan *plan, size_t value)
{
    struct num_map map = graph->values[value].map;

    map.n = graph->values[value].tokens ? plan->tokens : plan->n;
    return map;
}

struct num_map
nn_map_in(const struct nn_call *call, size_t k)
{
    return nn_map(call->graph, call->plan, call->step->op.in[k]);
}

struct num_map
nn_map_out(const struct nn_call *call)
{
    return nn_map(call->graph, call->plan, call->step->op.out);
}

const struct nn_tensor *
nn_tensor(const struct nn_call *call, size_t i)
{
    return &call->graph->tensors[call->step->op.tensor + i];
}

float *
nn_param_of(const struct nn_call *call, const struct nn_op *op, size_t i)
{
    const struct nn_tensor *t = &call->graph->tensors[op->tensor + i];

    return (t->statistic ? call->statistics : (float *)call->params) +
           t->offset;
}

float *
nn_param(const struct nn_call *call, size_t i)
{
    return nn_param_of(call, &call->step->op, i);
}

float *
nn_grad(const struct nn_call *call, size_t i)
{
    return call->grads + nn_tensor(call, i)->offset;
}
