#include <stdlib.h>

#include "util/mem.h"

#include "plan.h"

/*
 * Whether operator i can do the work of the next one as well: nobody else
 * reads what it writes, and what is added is wanted by no one else from there
 * on, because the sum takes its place.
 */
static int
can_merge(const struct nn_graph *graph, size_t i)
{
    const struct nn_op *op = &graph->ops[i], *next = op + 1;
    struct nn_affine form;

    if (!op->is->merges || i + 1 == graph->n_ops || !next->is->affine ||
        next->in[0] != op->out || graph->values[op->out].readers != 1 ||
        nn_graph_is_given(graph, op->out) || !next->is->affine(next, &form))
        return 0;
    if (next->n_in == 1)
        return 1;
    for (size_t k = 0; k < op->n_in; k++)
        if (op->in[k] == next->in[1])
            return 0;
    return graph->values[next->in[1]].last == i + 1 &&
           !nn_graph_is_given(graph, next->in[1]);
}

static void
merge_steps(struct nn_step *step, const struct nn_op *next)
{
    step->follower = next;
    step->op.out = next->out;
    if (next->n_in == 2)
        step->op.in[step->op.n_in++] = next->in[1];
    step[1].skip = 1;
}

/* Leaves the work of an operator to step i, which alone reads its output. */
static void
leave_to(const struct nn_graph *graph, struct nn_plan *plan, size_t i)
{
    struct nn_step *step = &plan->steps[i], *before;
    const size_t v = step->op.in[0];

    if (!step->needs.takes || graph->values[v].writer == nn_none)
        return;
    before = &plan->steps[graph->values[v].writer];
    if (!before->needs.leaves || graph->values[v].readers != 1 ||
        nn_graph_is_given(graph, v))
        return;
    before->left = 1;
    before->needs.again = 0;
    step->leader = before;
}

/*
 * Sums of an image are made while it is in the caches: those of step i by the
 * step before, which writes its input, and back those of the step before by
 * step i, if that writes the last gradient of its output, and what else is read
 * is there: an input that is not made again.
 */
static void
share_sums(const struct nn_graph *graph, struct nn_plan *plan, size_t i)
{
    struct nn_step *step = &plan->steps[i], *before = step - 1;
    const size_t v = step->op.in[0];

    if (graph->values[v].writer != i - 1)
        return;
    step->summed = step->needs.sums_by_image && before->needs.by_image;
    before->back_summed = before->summed && step->needs.back_by_image &&
                          graph->values[v].readers <= 2 &&
                          !nn_graph_is_given(graph, v);
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
        if (step->skip)
            continue;
        if (!plan->train && can_merge(graph, i))
            merge_steps(step, &graph->ops[i + 1]);
        if (step->op.is->prepare && step->op.is->prepare(graph, plan, step)) {
            nn_plan_free(plan);
            return NULL;
        }
        if (plan->train)
            leave_to(graph, plan, i);
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
    free(plan->steps);
    free(plan->again);
    free(plan);
}
