#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

#include "operator.h"

void
nn_graph_release(struct nn_graph *graph)
{
    for (size_t i = 0; i < graph->n_tensors; i++)
        free((char *)graph->tensors[i].name);
    for (size_t i = 0; i < graph->n_ops; i++)
        free(graph->ops[i].set);
    mem_free(graph->tensors, graph->initial, graph->values, graph->ops);
    *graph = (struct nn_graph){0};
}

static size_t
add_value(struct nn_graph *graph, struct nn_value value)
{
    mem_grow(&graph->values, &graph->values_room, graph->n_values + 1,
             sizeof *graph->values);
    graph->values[graph->n_values] = value;
    return graph->n_values++;
}

size_t
nn_graph_input(struct nn_graph *graph, enum nn_input_kind kind,
               struct num_map map)
{
    graph->input = kind;
    return add_value(graph, (struct nn_value){.map = map,
                                              .tokens = kind == NN_TOKENS,
                                              .writer = nn_none});
}

size_t
nn_graph_tensor(struct nn_graph *graph, const char *name, const char *last,
                int statistic, size_t rank, const size_t *shape)
{
    size_t *block = statistic ? &graph->statistics : &graph->params;
    struct nn_tensor t = {
        .name = last ? mem_format("%s.%s", name, last) : mem_text(name),
        .rank = rank,
        .offset = *block,
        .count = 1,
        .statistic = statistic,
        .decays = rank > 1,
    };

    for (size_t i = 0; i < rank; i++) {
        t.shape[i] = shape[i];
        t.count *= shape[i];
    }
    *block += t.count;
    mem_grow(&graph->tensors, &graph->tensors_room, graph->n_tensors + 1,
             sizeof *graph->tensors);
    mem_grow(&graph->initial, &graph->initial_room, graph->n_tensors + 1,
             sizeof *graph->initial);
    graph->initial[graph->n_tensors] = (struct nn_initial){0};
    graph->tensors[graph->n_tensors] = t;
    return graph->n_tensors++;
}

size_t
nn_graph_add(struct nn_graph *graph, struct nn_op op, struct num_map map,
             const void *set, size_t bytes)
{
    struct nn_value out = {.map = map, .writer = graph->n_ops};

    REQUIRE(op.n_in >= 1 && op.n_in <= NN_INPUTS);
    out.tokens =
        op.is->splits || (graph->values[op.in[0]].tokens && !op.is->pools);
    out.has_grad = op.tensor != nn_none && !graph->tensors[op.tensor].statistic;
    for (size_t k = 0; k < op.n_in; k++) {
        struct nn_value *in = &graph->values[op.in[k]];

        REQUIRE(in->tokens == graph->values[op.in[0]].tokens);
        in->readers++;
        in->last = graph->n_ops;
        out.has_grad |= in->has_grad;
    }
    op.out = add_value(graph, out);
    if (set) {
        op.set = mem_array(1, bytes);
        memcpy(op.set, set, bytes);
    }
    mem_grow(&graph->ops, &graph->ops_room, graph->n_ops + 1,
             sizeof *graph->ops);
    graph->ops[graph->n_ops++] = op;
    return op.out;
}

size_t
nn_graph_add_one(struct nn_graph *graph, const struct nn_operator *is,
                 size_t in, size_t tensor, struct num_map map, const void *set,
                 size_t bytes)
{
    return nn_graph_add(
        graph,
        (struct nn_op){.is = is, .n_in = 1, .in = {in}, .tensor = tensor}, map,
        set, bytes);
}

size_t
nn_graph_tokens(const struct nn_graph *graph, const struct nn_input *input)
{
    if (graph->each)
        return input->n * graph->each;
    return input->offsets ? input->offsets[input->n] - input->offsets[0] : 0;
}

int
nn_graph_is_result(const struct nn_graph *graph, size_t value)
{
    return value == graph->feature || value == graph->output;
}

struct num_map
nn_graph_rows(size_t c)
{
    return (struct num_map){
        .c = c, .h = 1, .w = 1, .block = c % 16 == 0 ? 16 : 1};
}

void
nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
              float *statistics)
{
    for (size_t k = 0; k < graph->n_tensors; k++) {
        const struct nn_tensor *t = &graph->tensors[k];
        const struct nn_initial *initial = &graph->initial[k];
        float *x = (t->statistic ? statistics : params) + t->offset;
        struct rng rng;

        if (t->statistic && t->offset < graph->fixed)
            continue;
        // image and text tower get different numbers from one seed
        rng_init(&rng, seed, RNG_INIT, k, (uint64_t)graph->texts, 0);
        for (size_t i = 0; i < t->count; i++)
            if (initial->bound > 0)
                x[i] = (float)rng_range(&rng, -initial->bound, initial->bound);
            else if (initial->deviation > 0)
                x[i] = (float)(initial->deviation * rng_normal(&rng));
            else
                x[i] = initial->value;
    }
}

/* ---- calls --------------------------------------------------------------- */

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
