#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "operator.h"

/*
 * Memory planning: the offset of each buffer of a plan.
 *
 * In training, the states of operators and the values that backward reads have
 * places of their own, the values in the order of their operators.  A saved
 * value is live from its operator until backward has passed all its readers.
 *
 * All other buffers are live from the operator that writes them to the last
 * one that reads them: gradients, scratch, other values, and large values,
 * which are recomputed when backward first needs them and live until backward
 * has passed all their readers.
 *
 * The planner simulates forward and backward once.  Each of these other buffers
 * gets the first gap that is wide enough, also in the place of a saved value
 * that is not live yet, or no longer.
 */
static const size_t recompute_bytes =
    4 << 20; // values of this size or larger are recomputed

enum { ALIGN = 64 };

/* Assigns offsets in the block to buffers with limited lifetimes: each gets the
 * first gap that is wide enough. */
struct layout {
    size_t start, most; /* offset of the first byte; size so far */
    struct range {
        size_t at, bytes;
    } * live; /* [n], by offset */
    size_t n, room;
};

static size_t
aligned_bytes(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Allocates the range at `at`, even if it overlaps others. */
static void
layout_enter(struct layout *layout, size_t at, size_t bytes)
{
    size_t i = layout->n;

    mem_grow(&layout->live, &layout->room, layout->n + 1, sizeof *layout->live);
    for (layout->n++; i > 0 && layout->live[i - 1].at > at; i--)
        layout->live[i] = layout->live[i - 1];
    layout->live[i] = (struct range){at, aligned_bytes(bytes)};
    if (layout->most < at + aligned_bytes(bytes) - layout->start)
        layout->most = at + aligned_bytes(bytes) - layout->start;
}

static size_t
layout_take(struct layout *layout, size_t bytes)
{
    size_t at = layout->start;

    for (size_t i = 0; i < layout->n; i++) {
        const struct range *live = &layout->live[i];

        if (at + aligned_bytes(bytes) <= live->at)
            break;
        if (at < live->at + live->bytes)
            at = live->at + live->bytes;
    }
    layout_enter(layout, at, bytes);
    return at;
}

static void
layout_free(struct layout *layout, size_t at, size_t bytes)
{
    size_t i = 0;

    while (i < layout->n && (layout->live[i].at != at ||
                             layout->live[i].bytes != aligned_bytes(bytes)))
        i++;
    REQUIRE(i < layout->n);
    layout->n--;
    for (; i < layout->n; i++)
        layout->live[i] = layout->live[i + 1];
}

/* Allocates and frees a range: scratch of one operator. */
static size_t
layout_scratch(struct layout *layout, size_t bytes)
{
    size_t at;

    if (!bytes)
        return layout->start;
    at = layout_take(layout, bytes);
    layout_free(layout, at, bytes);
    return at;
}

/* Assigns a place that is not shared. */
static size_t
own_place(struct nn_plan *plan, size_t bytes)
{
    size_t at = plan->bytes;

    plan->bytes += aligned_bytes(bytes);
    return at;
}

/* A value during planning.  Values written in place of one another share a
 * store, the first of them. */
struct value {
    size_t bytes;
    int wanted;           /* backward reads it */
    int recompute;        /* it is recomputed */
    size_t recomputed_at; /* the place of the recomputed value */
    size_t store;         /* the value that has its place */

    /* Of a store. */
    size_t place, last; /* the last operator that reads it; n_ops: the caller */
    int saved, done;    /* has its own place; its place is free */

    /* Of a store, or of a recomputed value: the lowest and the highest operator
     * with a backward that reads it; or nn_none. */
    size_t first, highest;

    size_t grads, grad[3]; /* places of its gradients */
};

struct places {
    struct nn_plan *plan;
    const struct nn_graph *graph;
    struct value *values;
    struct layout layout;
    size_t entered; /* values below this one are in the layout */
    size_t room;    /* capacity of plan->recompute */
};

static void
measure_values(struct places *p)
{
    const struct nn_graph *graph = p->graph;

    for (size_t i = 0; i < graph->n_values; i++) {
        struct num_map map = nn_map(graph, p->plan, i);

        p->values[i].bytes = num_map_bytes(&map);
        p->values[i].store = i;
        p->values[i].place = p->values[i].first = nn_none;
        p->values[i].highest = p->values[i].recomputed_at = nn_none;
    }
    for (size_t i = 0; p->plan->train && i < graph->n_ops; i++) {
        const struct nn_step *step = &p->plan->steps[i];

        for (size_t k = 0; k < step->op.n_in; k++)
            if (step->needs.reads & 1u << k)
                p->values[step->op.in[k]].wanted = 1;
        if (step->needs.reads & NN_READS_OUT)
            p->values[step->op.out].wanted = 1;
    }
}

/* Whether value v can be recomputed, from values that backward reads or that
 * can be recomputed themselves. */
static int
can_make(const struct places *p, size_t v)
{
    const struct nn_value *value = &p->graph->values[v];
    const struct nn_step *writer;

    if (value->writer == nn_none || nn_graph_is_result(p->graph, v))
        return 0;
    writer = &p->plan->steps[value->writer];
    if (!writer->needs.recompute)
        return 0;
    for (size_t k = 0; k < writer->op.n_in; k++)
        if (!p->values[writer->op.in[k]].wanted &&
            !can_make(p, writer->op.in[k]))
            return 0;
    return 1;
}

/* Marks value v as recomputed, and those of its inputs that are not saved. */
static void
mark_recomputed(struct places *p, size_t v)
{
    const struct nn_step *writer = &p->plan->steps[p->graph->values[v].writer];

    p->values[v].recompute = 1;
    for (size_t k = 0; k < writer->op.n_in; k++)
        if (!p->values[writer->op.in[k]].wanted)
            mark_recomputed(p, writer->op.in[k]);
}

/* Whether step i may write its output over input k: no later reader. */
static int
can_write_over(const struct places *p, size_t i, size_t k)
{
    const struct nn_step *step = &p->plan->steps[i];
    const size_t v = step->op.in[k];
    const struct nn_value *in = &p->graph->values[v];

    for (size_t other = 0; other < step->op.n_in; other++)
        if (other != k && step->op.in[other] == v)
            return 0;
    return step->needs.over & 1u << k && !p->values[v].wanted &&
           !p->values[v].recompute &&
           p->values[v].bytes == p->values[step->op.out].bytes &&
           in->last <= i + (step->follower != NULL) &&
           !nn_graph_is_result(p->graph, v);
}

/* Finds the values that share a store, and its last reader. */
static void
share_stores(struct places *p)
{
    const struct nn_graph *graph = p->graph;

    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &p->plan->steps[i].op;

        for (size_t k = 0; k < op->n_in && !p->plan->steps[i].skip; k++)
            if (p->plan->steps[i].fused || can_write_over(p, i, k)) {
                p->values[op->out].store = p->values[op->in[k]].store;
                break;
            }
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct nn_value *value = &graph->values[v];
        struct value *store = &p->values[p->values[v].store];
        size_t last = value->readers ? value->last : value->writer;

        if (nn_graph_is_result(graph, v))
            last = graph->n_ops;
        store->last = store->last < last ? last : store->last;
        store->saved |= p->values[v].wanted && !p->values[v].recompute;
    }
}

/* Notes that backward of step i reads a value. */
static void
back_reads(struct places *p, size_t i, size_t v)
{
    struct value *value = &p->values[v];

    if (!value->recompute)
        value = &p->values[value->store];
    if (value->first == nn_none || i < value->first)
        value->first = i;
    if (value->highest == nn_none || i > value->highest)
        value->highest = i;
}

/* Whether value v is live at backward of step i: a recomputed value is live
 * from the first to the last step that reads it. */
static int
is_live(const struct places *p, size_t i, size_t v)
{
    const struct value *value = &p->values[v];

    return !value->recompute || (value->highest != nn_none &&
                                 value->highest >= i && value->first <= i);
}

/* Notes that recomputing value v for backward of step i reads its inputs. */
static void
recompute_reads(struct places *p, size_t i, size_t v)
{
    const struct nn_op *op = &p->plan->steps[p->graph->values[v].writer].op;

    for (size_t k = 0; k < op->n_in; k++)
        if (!p->values[op->in[k]].recompute)
            back_reads(p, i, op->in[k]);
        else if (!is_live(p, i, op->in[k]))
            recompute_reads(p, i, op->in[k]);
}

static void
all_back_reads(struct places *p)
{
    for (size_t i = 0; i < p->graph->n_ops; i++) {
        const struct nn_step *step = &p->plan->steps[i];

        for (size_t k = 0; k < step->op.n_in; k++)
            if (step->needs.reads & 1u << k)
                back_reads(p, i, step->op.in[k]);
        if (step->needs.reads & NN_READS_OUT)
            back_reads(p, i, step->op.out);
    }
    for (size_t v = 0; v < p->graph->n_values; v++)
        if (p->values[v].recompute && p->values[v].wanted)
            recompute_reads(p, p->values[v].highest, v);
}

/* Adds the saved values of operators up to `last` to the live ones. */
static void
enter_saved_values(struct places *p, size_t last)
{
    for (; p->entered < p->graph->n_values; p->entered++) {
        const size_t writer = p->graph->values[p->entered].writer;
        const struct value *value = &p->values[p->entered];

        if (writer != nn_none && writer > last)
            return;
        if (value->saved)
            layout_enter(&p->layout, value->place, value->bytes);
    }
}

/* Assigns a place to a value that is not saved. */
static void
place_value(struct places *p, struct value *store)
{
    enter_saved_values(p, store->last);
    store->place = layout_take(&p->layout, store->bytes);
}

/* Frees the place of a store after the last operator that reads it. */
static void
free_store(struct places *p, size_t i, size_t v)
{
    struct value *store = &p->values[p->values[v].store];

    if (store->last > i || store->saved || store->done)
        return;
    layout_free(&p->layout, store->place, store->bytes);
    store->done = 1;
}

static void
place_forward(struct places *p)
{
    for (size_t i = 0; i < p->graph->n_ops; i++) {
        struct nn_step *step = &p->plan->steps[i];
        struct value *out = &p->values[p->values[step->op.out].store];
        size_t state = p->plan->train ? 0 : step->needs.state;
        size_t done = i + (step->follower != NULL);

        if (step->skip) // the step before writes its output
            continue;
        if (out->place == nn_none)
            place_value(p, out);
        enter_saved_values(p, i);
        step->scratch =
            layout_scratch(&p->layout, aligned_bytes(step->needs.scratch) +
                                           aligned_bytes(state));
        if (!p->plan->train)
            step->state = step->scratch + aligned_bytes(step->needs.scratch);
        for (size_t k = 0; k < step->op.n_in; k++)
            free_store(p, done, step->op.in[k]);
        free_store(p, done, step->op.out);
    }
}

/* Adds a gradient of a value.  At the third one, the first two are summed. */
static struct nn_sum
add_gradient_place(struct places *p, struct value *value, size_t place)
{
    struct nn_sum sum = {nn_none, nn_none};

    value->grad[value->grads++] = place;
    if (value->grads < 3)
        return sum;
    sum = (struct nn_sum){value->grad[0], value->grad[1]};
    layout_free(&p->layout, sum.from, value->bytes);
    value->grad[1] = value->grad[2];
    value->grads = 2;
    return sum;
}

/* Sets dy and dy2 of a step; sums them if the step does not take two. */
static void
receive_gradient(struct places *p, struct nn_step *step)
{
    const struct value *out = &p->values[step->op.out];

    REQUIRE(out->grads > 0);
    step->dy = out->grad[0];
    step->dy2 = out->grads > 1 ? out->grad[1] : nn_none;
    if (step->dy2 == nn_none || step->needs.takes_two)
        return;
    step->before = (struct nn_sum){step->dy, step->dy2};
    layout_free(&p->layout, step->dy2, out->bytes);
    step->dy2 = nn_none;
}

/* The place for the gradient of input k: that of dy or dy2, if it is free, or a
 * new one. */
static size_t
gradient_place(struct places *p, const struct nn_step *step, size_t k,
               int free[2])
{
    const size_t dy[2] = {step->dy, step->dy2};
    const unsigned over[2] = {step->needs.over_dy, step->needs.over_dy2};
    const size_t bytes = p->values[step->op.in[k]].bytes;

    for (int i = 0; i < 2; i++)
        if (free[i] && over[i] & 1u << k &&
            bytes == p->values[step->op.out].bytes) {
            free[i] = 0;
            return dy[i];
        }
    return layout_take(&p->layout, bytes);
}

static void
place_gradients(struct places *p, struct nn_step *step)
{
    const size_t out = p->values[step->op.out].bytes;
    int free[2];

    receive_gradient(p, step);
    free[0] = 1;
    free[1] = step->dy2 != nn_none;
    for (size_t k = 0; k < step->op.n_in; k++) {
        const size_t v = step->op.in[k];

        if (p->graph->values[v].has_grad)
            step->dx[k] = gradient_place(p, step, k, free);
        if (p->values[v].recompute && step->needs.reads & 1u << k)
            step->recomputed[k] = p->values[v].recomputed_at;
    }
    if (p->values[step->op.out].recompute && step->needs.reads & NN_READS_OUT)
        step->recomputed_out = p->values[step->op.out].recomputed_at;
    step->back_scratch =
        layout_scratch(&p->layout, aligned_bytes(step->needs.scratch));
    if (free[0])
        layout_free(&p->layout, step->dy, out);
    if (free[1])
        layout_free(&p->layout, step->dy2, out);
    for (size_t k = 0; k < step->op.n_in; k++)
        if (step->dx[k] != nn_none)
            step->after[k] =
                add_gradient_place(p, &p->values[step->op.in[k]], step->dx[k]);
}

static size_t
back_place(const struct places *p, size_t v)
{
    const struct value *value = &p->values[v];

    return value->recompute ? value->recomputed_at
                            : p->values[value->store].place;
}

/* Plans to recompute value v before backward of step i, and those of its inputs
 * that are not live, which are freed at once; returns its place. */
static size_t
place_recomputed(struct places *p, size_t i, size_t v)
{
    const struct nn_op *op = &p->plan->steps[p->graph->values[v].writer].op;
    struct nn_recompute task = {.before = i, .value = v};

    for (size_t k = 0; k < op->n_in; k++)
        task.in[k] = is_live(p, i, op->in[k])
                         ? back_place(p, op->in[k])
                         : place_recomputed(p, i, op->in[k]);
    task.out = layout_take(&p->layout, p->values[v].bytes);
    for (size_t k = 0; k < op->n_in; k++)
        if (!is_live(p, i, op->in[k]))
            layout_free(&p->layout, task.in[k], p->values[op->in[k]].bytes);
    mem_grow(&p->plan->recompute, &p->room, p->plan->n_recompute + 1,
             sizeof task);
    p->plan->recompute[p->plan->n_recompute++] = task;
    return task.out;
}

static void
place_backward(struct places *p)
{
    struct value *output = &p->values[p->graph->output];

    p->layout.n = p->entered = 0;
    enter_saved_values(p, p->graph->n_ops);
    p->plan->dz = layout_take(&p->layout, output->bytes);
    add_gradient_place(p, output, p->plan->dz);
    for (size_t i = p->graph->n_ops; i-- > 0;) {
        struct nn_step *step = &p->plan->steps[i];

        for (size_t v = 0; v < p->graph->n_values; v++)
            if (p->values[v].recompute && p->values[v].highest == i)
                p->values[v].recomputed_at = place_recomputed(p, i, v);
        if (p->graph->values[step->op.out].has_grad)
            place_gradients(p, step);
        for (size_t v = 0; v < p->graph->n_values; v++)
            if ((p->values[v].saved || p->values[v].recompute) &&
                p->values[v].first == i)
                layout_free(&p->layout, back_place(p, v), p->values[v].bytes);
    }
}

void
nn_plan_memory(struct nn_plan *plan, const struct nn_graph *graph)
{
    struct places p = {plan, graph, NULL, {.n = 0}, 0, 0};
    size_t sums = 0;

    p.values = mem_array(graph->n_values, sizeof *p.values);
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_sum none = {nn_none, nn_none};
        struct nn_step *step = &plan->steps[i];

        step->dy = step->dy2 = step->recomputed_out = nn_none;
        step->before = none;
        for (size_t k = 0; k < NN_INPUTS; k++) {
            step->in[k] = step->dx[k] = step->recomputed[k] = nn_none;
            step->after[k] = none;
        }
    }
    measure_values(&p);
    for (size_t v = 0; v < graph->n_values; v++)
        if (p.values[v].wanted && p.values[v].bytes >= recompute_bytes &&
            can_make(&p, v))
            mark_recomputed(&p, v);
    share_stores(&p);
    all_back_reads(&p);
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_needs *needs = &plan->steps[i].needs;

        if (plan->train)
            plan->steps[i].state = own_place(plan, needs->state);
        sums = needs->sums > sums ? needs->sums : sums;
    }
    plan->sums = own_place(plan, sums);
    plan->offsets = nn_none;
    if (graph->context)
        plan->offsets = own_place(plan, (plan->n + 1) * sizeof(size_t));
    p.layout.start = plan->bytes;
    for (size_t v = 0; v < graph->n_values; v++)
        if (p.values[v].saved)
            p.values[v].place = own_place(plan, p.values[v].bytes);
    if (!p.values[0].saved)
        place_value(&p, &p.values[0]);
    place_forward(&p);
    for (size_t i = 0; i < graph->n_ops; i++) {
        struct nn_step *step = &plan->steps[i];

        for (size_t k = 0; k < step->op.n_in; k++)
            step->in[k] = p.values[p.values[step->op.in[k]].store].place;
        step->out = p.values[p.values[step->op.out].store].place;
    }
    plan->input = p.values[0].place;
    plan->feature = p.values[p.values[graph->feature].store].place;
    plan->output = p.values[p.values[graph->output].store].place;
    if (plan->train)
        place_backward(&p);
    plan->bytes = p.layout.start + p.layout.most;
    mem_free(p.layout.live, p.values);
}
