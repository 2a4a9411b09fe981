#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "plan.h"

/*
 * Where everything of a plan is.  In training, what the gradients need is kept
 * in a place of its own until the next forward.  Everything else lives from
 * the operator that makes it to the last one that reads it: gradients, scratch,
 * values in inference, and in training
 *
 *   - what a shortcut's norm makes, which is only added, and
 *   - what a norm makes for one convolution alone, where that is large: it is
 *     made again from the norm's input when the gradient of the weights wants
 *     it.
 *
 * These share the end of the block: forward and backward are walked through
 * once, and each takes the first gap that is wide enough.
 */
enum { ALIGN = 64, LIVE = 16 };

static const size_t worth = 8 << 20; // bytes that are worth making again

struct gaps {
    size_t start, most; /* of the shared part: begins, and its size */
    size_t n;
    struct {
        size_t at, bytes;
    } live[LIVE]; /* by place */
};

static size_t
aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Takes bytes that are kept. */
static size_t
carve(struct nn_plan *plan, size_t bytes)
{
    size_t at = plan->bytes;

    plan->bytes += aligned(bytes);
    return at;
}

/* Where the last of what lives ends. */
static size_t
top(const struct gaps *gaps)
{
    if (!gaps->n)
        return gaps->start;
    return gaps->live[gaps->n - 1].at + gaps->live[gaps->n - 1].bytes;
}

/* Scratch lies beyond all that lives. */
static size_t
scratch(struct gaps *gaps, size_t bytes)
{
    size_t end = top(gaps) + aligned(bytes) - gaps->start;

    if (gaps->most < end)
        gaps->most = end;
    return top(gaps);
}

static size_t
take(struct gaps *gaps, size_t bytes)
{
    size_t at = gaps->start, i = 0;

    bytes = aligned(bytes);
    while (i < gaps->n && at + bytes > gaps->live[i].at) {
        at = gaps->live[i].at + gaps->live[i].bytes;
        i++;
    }
    REQUIRE(gaps->n < LIVE);
    for (size_t j = gaps->n++; j > i; j--)
        gaps->live[j] = gaps->live[j - 1];
    gaps->live[i].at = at;
    gaps->live[i].bytes = bytes;
    scratch(gaps, 0);
    return at;
}

static void
give_back(struct gaps *gaps, size_t at)
{
    size_t i = 0;

    while (i < gaps->n && gaps->live[i].at != at)
        i++;
    REQUIRE(i < gaps->n);
    gaps->n--;
    for (; i < gaps->n; i++)
        gaps->live[i] = gaps->live[i + 1];
}

/* What is known of a value while places are found. */
struct value {
    size_t place, bytes;
    size_t readers; /* still to come; one more for those given to the caller */
    int kept;
    size_t grad[2]; /* places of what flows into it, nn_none at first */
};

static struct value *
values_of(const struct nn_plan *plan, const struct nn_graph *graph)
{
    struct value *v = mem_array(graph->n_values, sizeof *v);

    for (size_t i = 0; i < graph->n_values; i++) {
        struct num_map map = nn_plan_map(graph, plan, i);

        v[i] = (struct value){
            nn_none, num_map_bytes(&map), 0, 0, {nn_none, nn_none}};
    }
    for (size_t i = 0; i < graph->n_ops; i++) {
        v[graph->ops[i].in].readers++;
        if (graph->ops[i].add != nn_none)
            v[graph->ops[i].add].readers++;
    }
    v[graph->feature].readers++;
    v[graph->output].readers++;
    return v;
}

/* Whether operator i is a convolution that alone reads what the norm before it
 * makes, and that is large. */
static int
can_remake(const struct nn_graph *graph, const struct value *v, size_t i)
{
    const struct nn_op *op = &graph->ops[i];

    return i > 0 && op->kind == NN_OP_CONV && op[-1].kind == NN_OP_NORM &&
           op[-1].out == op->in && v[op->in].readers == 1 &&
           v[op->in].bytes >= worth && op[-1].add == nn_none &&
           op[-1].norm != NUM_NORM_NONE;
}

/* Gives places to what training keeps. */
static void
keep_values(struct nn_plan *plan, const struct nn_graph *graph, struct value *v)
{
    v[0].kept = 1;
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        struct nn_step *step = &plan->steps[i];
        size_t counts = num_norm_counts(&step->norm) * sizeof(float);
        int shortcut = op->kind == NN_OP_NORM && !op->relu;

        v[op->out].kept =
            !shortcut && !(i + 1 < graph->n_ops && can_remake(graph, v, i + 1));
        if (op->kind == NN_OP_NORM) {
            step->mean = carve(plan, counts);
            step->variance = carve(plan, counts);
        } else if (op->kind == NN_OP_MAX) {
            step->largest = carve(plan, num_pool_places(step->pool));
        }
        // without statistics x is not wanted again: y is made in its place
        if (op->kind == NN_OP_NORM && op->norm == NUM_NORM_NONE)
            v[op->out].kept = 0;
    }
    for (size_t i = 0; i < graph->n_values; i++)
        if (v[i].kept)
            v[i].place = carve(plan, v[i].bytes);
}

/* A value was read; behind its last reader its place is free. */
static void
was_read(struct gaps *gaps, struct value *value)
{
    if (--value->readers == 0 && !value->kept)
        give_back(gaps, value->place);
}

/*
 * Which value's place the result of operator i takes over: a merged
 * convolution adds to the shortcut where that is, and a norm whose input is
 * not wanted again works in place.
 */
static size_t
taken_over(const struct nn_plan *plan, const struct nn_graph *graph, size_t i,
           int merged)
{
    const struct nn_op *op = &graph->ops[i];

    if (merged)
        return op[1].add;
    if (op->kind == NN_OP_NORM && (!plan->train || op->norm == NUM_NORM_NONE))
        return op->in;
    return nn_none;
}

static void
walk_forward(struct nn_plan *plan, const struct nn_graph *graph,
             struct value *v, struct gaps *gaps)
{
    if (!v[0].kept)
        v[0].place = take(gaps, v[0].bytes);
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        int merged = i + 1 < graph->n_ops && plan->steps[i + 1].skip;
        size_t add = merged ? op[1].add : op->add;
        size_t out = merged ? op[1].out : op->out;
        size_t over = taken_over(plan, graph, i, merged);

        if (plan->steps[i].skip) // its convolution has written its result
            continue;
        if (over != nn_none) {
            REQUIRE(v[over].readers == 1);
            v[out].place = v[over].place;
            v[out].kept = v[over].kept;
        } else if (!v[out].kept) {
            v[out].place = take(gaps, v[out].bytes);
        }
        plan->steps[i].scratch = scratch(gaps, plan->steps[i].need);
        if (op->in != over)
            was_read(gaps, &v[op->in]);
        if (add != nn_none && add != over)
            was_read(gaps, &v[add]);
    }
}

/* Another gradient flows into a value. */
static void
flow_into(struct value *value, size_t place)
{
    REQUIRE(value->grad[1] == nn_none);
    value->grad[value->grad[0] != nn_none] = place;
}

/*
 * The gradients of one operator: a norm makes dx where dy was, and with a
 * shortcut leaves that what flows into it, and takes dy2's place or another.
 */
static void
place_gradients(struct nn_step *step, const struct nn_op *op, struct value *v,
                struct gaps *gaps)
{
    size_t bytes = v[op->in].bytes;

    step->dy = v[op->out].grad[0];
    step->dy2 = v[op->out].grad[1];
    step->dx = step->dadd = step->remade = nn_none;
    if (op->kind == NN_OP_NORM && op->add == nn_none) {
        step->dx = step->dy;
    } else if (op->kind == NN_OP_NORM) {
        step->dadd = step->dy;
        step->dx = step->dy2 != nn_none ? step->dy2 : take(gaps, bytes);
    } else if (op->in) {
        step->dx = take(gaps, bytes);
    }
    if (op->kind == NN_OP_CONV && !v[op->in].kept)
        step->remade = take(gaps, bytes);
    step->back_scratch = scratch(gaps, step->need);
    if (step->dy != step->dx && step->dy != step->dadd)
        give_back(gaps, step->dy);
    if (step->dy2 != nn_none && step->dy2 != step->dx)
        give_back(gaps, step->dy2);
    if (step->remade != nn_none)
        give_back(gaps, step->remade);
    if (step->dx != nn_none)
        flow_into(&v[op->in], step->dx);
    if (step->dadd != nn_none)
        flow_into(&v[op->add], step->dadd);
}

static void
walk_backward(struct nn_plan *plan, const struct nn_graph *graph,
              struct value *v, struct gaps *gaps)
{
    gaps->n = 0;
    plan->dz = take(gaps, v[graph->output].bytes);
    flow_into(&v[graph->output], plan->dz);
    for (size_t i = graph->n_ops; i-- > 0;)
        place_gradients(&plan->steps[i], &graph->ops[i], v, gaps);
}

/* What inference keeps besides values: folded weights, means that are measured
 * though nobody asks for them again. */
static void
keep_for_inference(struct nn_plan *plan, const struct nn_graph *graph)
{
    size_t folded = 0, counts = 0;

    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        size_t means = num_norm_counts(&plan->steps[i].norm);

        counts = counts > means ? counts : means;
        if (op->kind == NN_OP_CONV) {
            const struct nn_tensor *w = &graph->tensors[op->tensor];

            if (folded < w->count + w->shape[0])
                folded = w->count + w->shape[0];
        }
    }
    plan->folded = carve(plan, folded * sizeof(float));
    plan->counts = carve(plan, 2 * counts * sizeof(float));
}

void
nn_plan_place(struct nn_plan *plan, const struct nn_graph *graph)
{
    struct value *v = values_of(plan, graph);
    struct gaps gaps = {.n = 0};

    if (plan->train)
        keep_values(plan, graph, v);
    else
        keep_for_inference(plan, graph);
    gaps.start = plan->bytes;
    walk_forward(plan, graph, v, &gaps);
    if (plan->train)
        walk_backward(plan, graph, v, &gaps);
    plan->bytes += gaps.most;
    plan->images = v[0].place;
    plan->feature = v[graph->feature].place;
    plan->output = v[graph->output].place;
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];

        plan->steps[i].in = v[op->in].place;
        plan->steps[i].add = op->add == nn_none ? nn_none : v[op->add].place;
        plan->steps[i].out = v[op->out].place;
    }
    free(v);
}
