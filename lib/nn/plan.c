#include <stdlib.h>

#include "util/mem.h"

#include "operator.h"

/* Whether operator i can also do the work of the next one: no other operator
 * reads its output, and no later one the added value, which the sum
 * overwrites. */
static int
can_merge(const struct nn_graph *graph, size_t i)
{
    const struct nn_op *op = &graph->ops[i], *next = op + 1;
    struct nn_affine form;

    if (!op->is->merges || i + 1 == graph->n_ops || !next->is->affine ||
        next->in[0] != op->out || graph->values[op->out].readers != 1 ||
        nn_graph_is_result(graph, op->out) || !next->is->affine(next, &form))
        return 0;
    if (next->n_in == 1)
        return 1;
    for (size_t k = 0; k < op->n_in; k++)
        if (op->in[k] == next->in[1])
            return 0;
    return graph->values[next->in[1]].last == i + 1 &&
           !nn_graph_is_result(graph, next->in[1]);
}

/* Fuses an operator into step i, the only reader of its output. */
static void
fuse_into(const struct nn_graph *graph, struct nn_plan *plan, size_t i)
{
    struct nn_step *step = &plan->steps[i], *before;
    const size_t v = step->op.in[0];

    if (!step->needs.fuses || graph->values[v].writer == nn_none)
        return;
    before = &plan->steps[graph->values[v].writer];
    if (!before->needs.fusable || graph->values[v].readers != 1 ||
        nn_graph_is_result(graph, v))
        return;
    before->fused = 1;
    before->needs.recompute = 0;
    step->fused_input = before;
}

/*
 * Sums of an image are computed while it is in the caches.  In forward the step
 * before i, which writes its input, computes those of step i.  In backward step
 * i computes those of the step before, if it writes the last gradient of its
 * output and the other operands are live: its input is not recomputed.
 */
static void
share_sums(const struct nn_graph *graph, struct nn_plan *plan, size_t i)
{
    struct nn_step *step = &plan->steps[i], *before = step - 1;
    const size_t v = step->op.in[0];

    if (graph->values[v].writer != i - 1)
        return;
    step->sums_by_previous =
        step->needs.sums_by_image && before->needs.by_image;
    before->back_sums_by_next =
        before->sums_by_previous && step->needs.back_by_image &&
        graph->values[v].readers <= 2 && !nn_graph_is_result(graph, v);
}

struct nn_plan *
nn_plan_new(const struct nn_graph *graph, struct nn_plan what)
{
    struct nn_plan *plan = mem_array(1, sizeof *plan);

    *plan = what;
    plan->n_steps = graph->n_ops;
    plan->steps = mem_array(graph->n_ops, sizeof *plan->steps);
    for (size_t i = 0; i < graph->n_ops; i++) {
        struct nn_step *step = &plan->steps[i];

        step->op = graph->ops[i];
        step->needs = step->op.is->needs;
        if (step->skip)
            continue;
        if (!plan->train && can_merge(graph, i)) {
            const struct nn_op *next = &graph->ops[i + 1];

            step->follower = next;
            step->op.out = next->out;
            if (next->n_in == 2)
                step->op.in[step->op.n_in++] = next->in[1];
            step[1].skip = 1;
        }
        if (step->op.is->prepare && step->op.is->prepare(graph, plan, step)) {
            nn_plan_free(plan);
            return NULL;
        }
        if (plan->train)
            fuse_into(graph, plan, i);
        if (plan->train && i > 0)
            share_sums(graph, plan, i);
    }
    nn_plan_memory(plan, graph);
    return plan;
}

void
nn_plan_free(struct nn_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_steps; i++) {
        struct nn_step *step = &plan->steps[i];

        if (step->made && step->op.is->release)
            step->op.is->release(step);
        else
            free(step->made);
    }
    mem_free(plan->steps, plan->recompute, plan);
}
