#include <string.h>

#include "num/vec.h"
#include "util/err.h"

#include "run.h"

/* The address of a place in the block; NULL for nn_none. */
static void *
pointer_at(const struct nn_run *run, size_t place)
{
    return place == nn_none ? NULL : run->block + place;
}

/* A step's call, without gradients. */
static struct nn_call
call_of(const struct nn_run *run, const struct nn_step *step)
{
    struct nn_call call = {
        .graph = run->graph,
        .plan = run->plan,
        .step = step,
        .mode = run->mode,
        .rows = run->rows,
        .y = pointer_at(run, step->out),
        .state = step->needs.state ? pointer_at(run, step->state) : NULL,
        .scratch = pointer_at(run, step->scratch),
        .sums = pointer_at(run, run->plan->sums),
        .params = run->params,
        .statistics = run->statistics,
    };

    if (step->fused_input)
        call.fused_input = pointer_at(run, step->fused_input->state);
    call.offsets = pointer_at(run, run->plan->offsets);
    for (size_t k = 0; k < step->op.n_in; k++)
        call.x[k] = pointer_at(run, step->in[k]);
    return call;
}

/* Copies the tokens of all samples, and their offsets. */
static void
copy_tokens(const struct nn_run *run, const struct nn_input *input)
{
    const size_t *from = input->offsets;
    size_t *offsets = pointer_at(run, run->plan->offsets);

    for (size_t i = 0; i <= input->n; i++) {
        REQUIRE(i == 0 || (from[i] > from[i - 1] &&
                           from[i] - from[i - 1] <= run->graph->context));
        offsets[i] = from[i] - from[0];
    }
    memcpy(pointer_at(run, run->plan->input), input->ids + from[0],
           run->plan->tokens * sizeof *input->ids);
}

void
nn_run_input(const struct nn_run *run, const struct nn_input *input,
             const float *mean, const float *deviation)
{
    const struct num_map map = nn_map(run->graph, run->plan, 0);
    void *to = pointer_at(run, run->plan->input);

    REQUIRE(input->n == run->plan->n &&
            nn_graph_tokens(run->graph, input) == run->plan->tokens);
    for (size_t i = 0; run->graph->each && i <= input->n; i++)
        ((size_t *)pointer_at(run, run->plan->offsets))[i] =
            i * run->graph->each;
    switch (run->graph->input) {
    case NN_IMAGES:
        if (run->graph->rows)
            memcpy(to, input->images, num_map_bytes(&map));
        else
            num_map_pixels(&map, input->images, mean, deviation, to);
        break;
    case NN_ROWS:
        memcpy(to, input->rows, num_map_bytes(&map));
        break;
    case NN_IDS:
        memcpy(to, input->ids, input->n * sizeof *input->ids);
        break;
    case NN_TOKENS:
        copy_tokens(run, input);
        break;
    }
}

/* The count of sums that a step shares among parts. */
static size_t
count_shared(const struct nn_run *run, size_t i)
{
    const struct nn_step *step = &run->plan->steps[i];
    const struct nn_call call = call_of(run, step);

    return step->op.is->shared ? step->op.is->shared(&call) : 0;
}

size_t
nn_run_shared(const struct nn_run *run)
{
    size_t most = 0;

    for (size_t i = 0; i < run->graph->n_ops; i++)
        if (most < count_shared(run, i))
            most = count_shared(run, i);
    return most;
}

/* Adds the sums of all parts, n numbers each, to those of the first: by a
 * binary tree over the parts of this process, then by add() over processes. */
static void
total_sums(const struct nn_runs *runs, size_t n)
{
    double *sums = runs->sums;

    for (size_t d = 1; d < runs->n; d *= 2)
        for (size_t p = 0; p + d < runs->n; p += 2 * d)
            for (size_t k = 0; k < n; k++)
                sums[p * n + k] += sums[(p + d) * n + k];
    if (runs->parts->add)
        runs->parts->add(runs->parts->self, sums, n);
}

/* The end of the last parameter of an operator: it has all tensors up to the
 * first of another operator. */
static size_t
end_of_params(const struct nn_graph *graph, const struct nn_op *op)
{
    size_t next = graph->n_tensors, end = 0;

    if (op->tensor == nn_none)
        return 0;
    for (size_t i = 0; i < graph->n_ops; i++) {
        const size_t first = graph->ops[i].tensor;

        if (first != nn_none && first > op->tensor && first < next)
            next = first;
    }
    for (size_t k = op->tensor; k < next; k++) {
        const struct nn_tensor *t = graph->tensors + k;

        if (!t->statistic && end < t->offset + t->count)
            end = t->offset + t->count;
    }
    return end;
}

void
nn_run_final(const struct nn_graph *graph, size_t *final)
{
    size_t open = 0; // end of the parameters of earlier operators

    for (size_t i = 0; i < graph->n_ops; i++) {
        const size_t end = end_of_params(graph, graph->ops + i);

        final[i] = open;
        if (open < end)
            open = end;
    }
}

static void
forward_step(const struct nn_runs *runs, size_t i)
{
    const struct nn_operator *is = runs->run->plan->steps[i].op.is;
    const size_t n = runs->parts ? count_shared(runs->run, i) : 0;

    for (size_t p = 0; p < runs->n; p++) {
        const struct nn_run *run = runs->run + p;
        const struct nn_step *step = &run->plan->steps[i];
        struct nn_call call = call_of(run, step), next;

        if (i + 1 < run->graph->n_ops && step[1].sums_by_previous) {
            next = call_of(run, step + 1);
            call.sums_for = &next;
        }
        if (n)
            is->forward_halves.begin(&call, runs->sums + p * n);
        else
            is->forward(&call);
    }
    if (!n)
        return;
    total_sums(runs, n);
    for (size_t p = 0; p < runs->n; p++) {
        const struct nn_run *run = runs->run + p;
        const struct nn_call call = call_of(run, &run->plan->steps[i]);

        is->forward_halves.end(&call, runs->sums);
    }
}

void
nn_run_forward(const struct nn_runs *runs)
{
    for (size_t i = 0; i < runs->run->graph->n_ops; i++)
        forward_step(runs, i);
}

void
nn_run_measure(const struct nn_run *run)
{
    for (size_t i = 0; i < run->graph->n_ops; i++) {
        const struct nn_step *step = &run->plan->steps[i];
        const struct nn_call call = call_of(run, step);

        if (step->op.is->measure)
            step->op.is->measure(&call);
    }
}

void
nn_run_infer(const struct nn_run *run, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++) {
        const struct nn_step *step = &run->plan->steps[i];
        const struct nn_operator *is = step->op.is;
        const struct nn_call call = call_of(run, step);

        if (!step->skip)
            (is->infer ? is->infer : is->forward)(&call);
    }
}

static void
recompute_value(const struct nn_run *run, const struct nn_recompute *value)
{
    const struct nn_step *writer =
        &run->plan->steps[run->graph->values[value->value].writer];
    struct nn_call call = call_of(run, writer);

    for (size_t k = 0; k < writer->op.n_in; k++)
        call.x[k] = pointer_at(run, value->in[k]);
    call.y = pointer_at(run, value->out);
    call.scratch = NULL;
    writer->op.is->recompute(&call);
}

static void
sum_gradients(const struct nn_run *run, size_t value, struct nn_sum sum)
{
    const struct num_map map = nn_map(run->graph, run->plan, value);

    if (sum.to != nn_none)
        num_map_add(&map, pointer_at(run, sum.from), pointer_at(run, sum.to));
}

static struct nn_call
back_call_of(const struct nn_run *run, const struct nn_step *step)
{
    struct nn_call call = call_of(run, step);

    for (size_t k = 0; k < step->op.n_in; k++) {
        if (!(step->needs.reads & 1u << k))
            call.x[k] = NULL;
        else if (step->recomputed[k] != nn_none)
            call.x[k] = pointer_at(run, step->recomputed[k]);
        call.dx[k] = pointer_at(run, step->dx[k]);
    }
    if (!(step->needs.reads & NN_READS_OUT))
        call.y = NULL;
    else if (step->recomputed_out != nn_none)
        call.y = pointer_at(run, step->recomputed_out);
    call.scratch = pointer_at(run, step->back_scratch);
    call.dy = pointer_at(run, step->dy);
    call.dy2 = pointer_at(run, step->dy2);
    call.grads = run->grads;
    call.add = run->add;
    return call;
}

static void
backward_step(const struct nn_runs *runs, size_t i)
{
    const struct nn_step *first = &runs->run->plan->steps[i];
    const struct nn_operator *is = first->op.is;
    const int no_grad = first->dy == nn_none;
    const size_t n = runs->parts && !no_grad ? count_shared(runs->run, i) : 0;

    for (size_t p = 0; p < runs->n; p++) {
        const struct nn_run *run = runs->run + p;
        const struct nn_step *step = &run->plan->steps[i];
        const struct nn_plan *plan = run->plan;
        size_t *done = runs->recomputed + p;
        struct nn_call call = back_call_of(run, step), before;

        if (i > 0 && step[-1].back_sums_by_next) {
            before = back_call_of(run, step - 1);
            call.sums_for = &before;
        }
        while (*done < plan->n_recompute && plan->recompute[*done].before == i)
            recompute_value(run, plan->recompute + (*done)++);
        if (!no_grad)
            sum_gradients(run, step->op.out, step->before);
        if (n)
            is->backward_halves.begin(&call, runs->sums + p * n);
        else if (!no_grad)
            is->backward(&call);
    }
    if (n)
        total_sums(runs, n);
    for (size_t p = 0; p < runs->n && !no_grad; p++) {
        const struct nn_run *run = runs->run + p;
        const struct nn_step *step = &run->plan->steps[i];
        const struct nn_call call = back_call_of(run, step);

        if (n)
            is->backward_halves.end(&call, runs->sums);
        for (size_t k = 0; k < step->op.n_in; k++)
            sum_gradients(run, step->op.in[k], step->after[k]);
    }
}

/* Adds gradients [from,to) of all parts to those of the first, by a tree. */
static void
sum_parts(const struct nn_runs *runs, size_t from, size_t to)
{
    for (size_t d = 1; d < runs->n; d *= 2)
        for (size_t p = 0; p + d < runs->n; p += 2 * d)
            num_axpy(to - from, 1, runs->run[p + d].grads + from,
                     runs->run[p].grads + from);
}

void
nn_run_backward(const struct nn_runs *runs)
{
    size_t from = runs->run->graph->params;

    memset(runs->recomputed, 0, runs->n * sizeof *runs->recomputed);
    for (size_t i = runs->run->graph->n_ops; i-- > 0;) {
        backward_step(runs, i);
        if (!runs->final)
            continue;
        sum_parts(runs, runs->final[i], from);
        from = runs->final[i];
        runs->done(runs->self, from);
    }
    sum_parts(runs, 0, from);
}
