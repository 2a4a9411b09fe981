#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "arena.h"
#include "plan.h"

/*
 * Where everything of a plan is.  In training, the states of operators are kept
 * in places of their own.  Values that backward reads are kept as well, in the
 * order in which they are made: from the operator that makes one until backward
 * has gone through all that read it.  Everything else lives from the operator
 * that makes it to the last one that reads it: gradients, scratch, all other
 * values, and large values, which are made again when backward first wants them
 * and live until it has gone through all that read them.
 *
 * Forward and backward are walked through once, and each of the latter takes
 * the first gap that is wide enough, also where a value is kept that is not yet
 * made, or no longer wanted.
 */
static const size_t recompute_bytes =
    4 << 20; // values that are as large or larger are computed twice

/* Takes bytes that are kept. */
static size_t
keep_bytes(struct nn_plan *plan, size_t bytes)
{
    size_t at = plan->bytes;

    plan->bytes += nn_aligned(bytes);
    return at;
}

/* What is known of a value while places are found.  Values that are written
 * one over the other share a store, that of the first. */
struct value {
    size_t bytes;
    int wanted;   /* backward reads it */
    int again;    /* it is made again */
    size_t made;  /* the place of that */
    size_t store; /* the value whose place it has */

    /* Of a store. */
    size_t place, last; /* the operator that reads it last; n_ops: the caller */
    int kept, done;

    /* Of a store, or of what is made again: the operators whose backward reads
     * it last and, counted from here, first; or nn_none. */
    size_t first, highest;

    size_t grads, grad[3]; /* places of what flows into it */
};

struct places {
    struct nn_plan *plan;
    const struct nn_graph *graph;
    struct value *values;
    struct nn_arena arena;
    size_t made; /* values below are made, or live already */
    size_t room; /* of what the plan makes again */
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
        p->values[i].highest = p->values[i].made = nn_none;
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

/* Whether value v can be made again, out of values that backward wants or that
 * can be made again themselves. */
static int
can_make(const struct places *p, size_t v)
{
    const struct nn_value *value = &p->graph->values[v];
    const struct nn_step *writer;

    if (value->writer == nn_none || nn_graph_is_given(p->graph, v))
        return 0;
    writer = &p->plan->steps[value->writer];
    if (!writer->needs.again)
        return 0;
    for (size_t k = 0; k < writer->op.n_in; k++)
        if (!p->values[writer->op.in[k]].wanted &&
            !can_make(p, writer->op.in[k]))
            return 0;
    return 1;
}

/* Value v is made again, and what it is made of where that is not there. */
static void
make_again(struct places *p, size_t v)
{
    const struct nn_step *writer = &p->plan->steps[p->graph->values[v].writer];

    p->values[v].again = 1;
    for (size_t k = 0; k < writer->op.n_in; k++)
        if (!p->values[writer->op.in[k]].wanted)
            make_again(p, writer->op.in[k]);
}

/* Whether step i may write its output over input k: nobody wants that again. */
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
           !p->values[v].again &&
           p->values[v].bytes == p->values[step->op.out].bytes &&
           in->last <= i + (step->follower != NULL) &&
           !nn_graph_is_given(p->graph, v);
}

/* Which values share a store, and until when it is wanted. */
static void
share_stores(struct places *p)
{
    const struct nn_graph *graph = p->graph;

    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &p->plan->steps[i].op;

        for (size_t k = 0; k < op->n_in && !p->plan->steps[i].skip; k++)
            if (p->plan->steps[i].left || can_write_over(p, i, k)) {
                p->values[op->out].store = p->values[op->in[k]].store;
                break;
            }
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct nn_value *value = &graph->values[v];
        struct value *store = &p->values[p->values[v].store];
        size_t last = value->readers ? value->last : value->writer;

        if (nn_graph_is_given(graph, v))
            last = graph->n_ops;
        store->last = store->last < last ? last : store->last;
        store->kept |= p->values[v].wanted && !p->values[v].again;
    }
}

/* Backward of step i reads a value. */
static void
back_reads(struct places *p, size_t i, size_t v)
{
    struct value *value = &p->values[v];

    if (!value->again)
        value = &p->values[value->store];
    if (value->first == nn_none || i < value->first)
        value->first = i;
    if (value->highest == nn_none || i > value->highest)
        value->highest = i;
}

/* Whether value v is there at backward of step i: what is made again is there
 * from the step that reads it first to the one that reads it last. */
static int
is_there(const struct places *p, size_t i, size_t v)
{
    const struct value *value = &p->values[v];

    return !value->again || (value->highest != nn_none && value->highest >= i &&
                             value->first <= i);
}

/* Value v is made again for backward of step i: what it is made of is read. */
static void
making_reads(struct places *p, size_t i, size_t v)
{
    const struct nn_op *op = &p->plan->steps[p->graph->values[v].writer].op;

    for (size_t k = 0; k < op->n_in; k++)
        if (!p->values[op->in[k]].again)
            back_reads(p, i, op->in[k]);
        else if (!is_there(p, i, op->in[k]))
            making_reads(p, i, op->in[k]);
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
        if (p->values[v].again && p->values[v].wanted)
            making_reads(p, p->values[v].highest, v);
}

/* Gives places to what training keeps: states, then values. */
static void
keep_states(struct places *p)
{
    for (size_t i = 0; i < p->graph->n_ops; i++)
        p->plan->steps[i].state =
            keep_bytes(p->plan, p->plan->steps[i].needs.state);
}

static size_t
most_sums(const struct nn_plan *plan)
{
    size_t most = 0;

    for (size_t i = 0; i < plan->n_steps; i++)
        if (most < plan->steps[i].needs.sums)
            most = plan->steps[i].needs.sums;
    return most;
}

static void
keep_values(struct places *p)
{
    for (size_t v = 0; v < p->graph->n_values; v++)
        if (p->values[v].kept)
            p->values[v].place = keep_bytes(p->plan, p->values[v].bytes);
}

/* What is kept lives that operators up to `last` make. */
static void
enter_kept_values(struct places *p, size_t last)
{
    for (; p->made < p->graph->n_values; p->made++) {
        const size_t writer = p->graph->values[p->made].writer;
        const struct value *value = &p->values[p->made];

        if (writer != nn_none && writer > last)
            return;
        if (value->kept)
            nn_arena_enter(&p->arena, value->place, value->bytes);
    }
}

/* Takes a place for a value that is not kept. */
static void
place_value(struct places *p, struct value *store)
{
    enter_kept_values(p, store->last);
    store->place = nn_arena_take(&p->arena, store->bytes);
}

/* Behind the last operator that reads a store its place is free. */
static void
free_used_store(struct places *p, size_t i, size_t v)
{
    struct value *store = &p->values[p->values[v].store];

    if (store->last > i || store->kept || store->done)
        return;
    nn_arena_give_back(&p->arena, store->place, store->bytes);
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

        if (step->skip) // the step before has written its output
            continue;
        if (out->place == nn_none)
            place_value(p, out);
        enter_kept_values(p, i);
        step->scratch = nn_arena_scratch(
            &p->arena, nn_aligned(step->needs.scratch) + nn_aligned(state));
        if (!p->plan->train)
            step->state = step->scratch + nn_aligned(step->needs.scratch);
        for (size_t k = 0; k < step->op.n_in; k++)
            free_used_store(p, done, step->op.in[k]);
        free_used_store(p, done, step->op.out);
    }
}

/* Another gradient flows into a value.  Where it is the third one, the first
 * two become one. */
static struct nn_sum
add_gradient_place(struct places *p, struct value *value, size_t place)
{
    struct nn_sum sum = {nn_none, nn_none};

    value->grad[value->grads++] = place;
    if (value->grads < 3)
        return sum;
    sum = (struct nn_sum){value->grad[0], value->grad[1]};
    nn_arena_give_back(&p->arena, sum.from, value->bytes);
    value->grad[1] = value->grad[2];
    value->grads = 2;
    return sum;
}

/* dy and dy2 of a step, as one where it does not take two. */
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
    nn_arena_give_back(&p->arena, step->dy2, out->bytes);
    step->dy2 = nn_none;
}

/* Where the gradient of input k goes: over one that arrives, if that is still
 * free, or to a place of its own. */
static size_t
gradient_place(struct places *p, const struct nn_step *step, size_t k,
               int free[2])
{
    const size_t arrived[2] = {step->dy, step->dy2};
    const unsigned over[2] = {step->needs.over_dy, step->needs.over_dy2};
    const size_t bytes = p->values[step->op.in[k]].bytes;

    for (int i = 0; i < 2; i++)
        if (free[i] && over[i] & 1u << k &&
            bytes == p->values[step->op.out].bytes) {
            free[i] = 0;
            return arrived[i];
        }
    return nn_arena_take(&p->arena, bytes);
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

        if (p->graph->values[v].learnt)
            step->dx[k] = gradient_place(p, step, k, free);
        if (p->values[v].again && step->needs.reads & 1u << k)
            step->again[k] = p->values[v].made;
    }
    if (p->values[step->op.out].again && step->needs.reads & NN_READS_OUT)
        step->again_out = p->values[step->op.out].made;
    step->back_scratch =
        nn_arena_scratch(&p->arena, nn_aligned(step->needs.scratch));
    if (free[0])
        nn_arena_give_back(&p->arena, step->dy, out);
    if (free[1])
        nn_arena_give_back(&p->arena, step->dy2, out);
    for (size_t k = 0; k < step->op.n_in; k++)
        if (step->dx[k] != nn_none)
            step->after[k] =
                add_gradient_place(p, &p->values[step->op.in[k]], step->dx[k]);
}

/* Where backward finds value v. */
static size_t
back_place(const struct places *p, size_t v)
{
    const struct value *value = &p->values[v];

    return value->again ? value->made : p->values[value->store].place;
}

/* Makes value v again before backward of step i, and what it is made of where
 * that is not there, for that time only; returns its place. */
static size_t
place_again(struct places *p, size_t i, size_t v)
{
    const struct nn_op *op = &p->plan->steps[p->graph->values[v].writer].op;
    struct nn_again again = {.before = i, .value = v};

    for (size_t k = 0; k < op->n_in; k++)
        again.in[k] = is_there(p, i, op->in[k]) ? back_place(p, op->in[k])
                                                : place_again(p, i, op->in[k]);
    again.out = nn_arena_take(&p->arena, p->values[v].bytes);
    for (size_t k = 0; k < op->n_in; k++)
        if (!is_there(p, i, op->in[k]))
            nn_arena_give_back(&p->arena, again.in[k],
                               p->values[op->in[k]].bytes);
    mem_grow(&p->plan->again, &p->room, p->plan->n_again + 1, sizeof again);
    p->plan->again[p->plan->n_again++] = again;
    return again.out;
}

static void
place_backward(struct places *p)
{
    struct value *output = &p->values[p->graph->output];

    p->arena.n = p->made = 0;
    enter_kept_values(p, p->graph->n_ops);
    p->plan->dz = nn_arena_take(&p->arena, output->bytes);
    add_gradient_place(p, output, p->plan->dz);
    for (size_t i = p->graph->n_ops; i-- > 0;) {
        struct nn_step *step = &p->plan->steps[i];

        for (size_t v = 0; v < p->graph->n_values; v++)
            if (p->values[v].again && p->values[v].highest == i)
                p->values[v].made = place_again(p, i, v);
        if (p->graph->values[step->op.out].learnt)
            place_gradients(p, step);
        for (size_t v = 0; v < p->graph->n_values; v++)
            if ((p->values[v].kept || p->values[v].again) &&
                p->values[v].first == i)
                nn_arena_give_back(&p->arena, back_place(p, v),
                                   p->values[v].bytes);
    }
}

static void
clear_places(struct nn_step *step)
{
    const struct nn_sum none = {nn_none, nn_none};

    step->dy = step->dy2 = step->again_out = nn_none;
    step->before = none;
    for (size_t k = 0; k < NN_INPUTS; k++) {
        step->in[k] = step->dx[k] = step->again[k] = nn_none;
        step->after[k] = none;
    }
}

void
nn_plan_memory(struct nn_plan *plan, const struct nn_graph *graph)
{
    struct places p = {plan, graph, NULL, {.n = 0}, 0, 0};

    p.values = mem_array(graph->n_values, sizeof *p.values);
    for (size_t i = 0; i < graph->n_ops; i++)
        clear_places(&plan->steps[i]);
    measure_values(&p);
    for (size_t v = 0; v < graph->n_values; v++)
        if (p.values[v].wanted && p.values[v].bytes >= recompute_bytes &&
            can_make(&p, v))
            make_again(&p, v);
    share_stores(&p);
    all_back_reads(&p);
    if (plan->train)
        keep_states(&p);
    plan->sums = keep_bytes(plan, most_sums(plan));
    plan->offsets = nn_none;
    if (graph->context)
        plan->offsets = keep_bytes(plan, (plan->n + 1) * sizeof(size_t));
    p.arena.start = plan->bytes;
    keep_values(&p);
    if (!p.values[0].kept)
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
    plan->bytes = p.arena.start + p.arena.most;
    free(p.arena.live);
    free(p.values);
}
