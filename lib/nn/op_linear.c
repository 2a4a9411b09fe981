#include <math.h>
#include <stdio.h>
#include <string.h>

#include "num/dense.h"
#include "num/half.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

#include "operator.h"

struct linear {
    int bias, transposed;
};

/* Adds weight and bias.  Both are normal after a basis or fixed rows, else
 * uniform within +-1 / sqrt(in) as in torchvision; with a deviation the weight
 * is normal and the bias 0. */
static size_t
add_layer_tensors(struct nn_graph *graph, const struct nn_linear *what,
                  size_t value)
{
    const struct num_map *map = &graph->values[value].map;
    const size_t in = map->c * map->h * map->w, out = what->out;
    const size_t p = what->patch ? what->patch : 1;
    const char join = what->joined ? '_' : '.';
    const int after_basis = graph->fixed && !graph->values[value].has_grad;
    struct nn_initial both = {.bound = sqrt(1. / (double)in)};
    char name[256];
    size_t weight, bias;

    if (after_basis)
        both = (struct nn_initial){.deviation = sqrt(1. / (double)(in + 1))};
    snprintf(name, sizeof name, "%s%cweight", what->name, join);
    if (what->transposed)
        weight = nn_graph_tensor(graph, what->name, NULL, what->fixed, 2,
                                 (size_t[]){in, out});
    else
        weight =
            nn_graph_tensor(graph, name, NULL, what->fixed, what->patch ? 4 : 2,
                            (size_t[]){out, in / (p * p), p, p});
    graph->initial[weight] = both;
    if (what->deviation > 0)
        graph->initial[weight] =
            (struct nn_initial){.deviation = what->deviation};
    if (what->no_bias)
        return weight;
    snprintf(name, sizeof name, "%s%cbias", what->name, join);
    bias = nn_graph_tensor(graph, name, NULL, what->fixed, 1, &out);
    if (!(what->deviation > 0))
        graph->initial[bias] = both;
    return weight;
}

static size_t
add_layer(struct nn_graph *graph, struct nn_op op, const struct nn_linear *what)
{
    const struct linear set = {!what->no_bias, what->transposed};
    struct num_map rows = nn_graph_rows(what->out);

    rows.bf16 = graph->values[op.in[0]].map.bf16;
    op.is = &nn_op_linear;
    op.tensor = add_layer_tensors(graph, what, op.in[0]);
    if (what->fixed)
        graph->fixed = graph->statistics;
    return nn_graph_add(graph, op, rows, &set, sizeof set);
}

size_t
nn_graph_linear(struct nn_graph *graph, size_t in, const struct nn_linear *what)
{
    return add_layer(graph, (struct nn_op){.n_in = 1, .in = {in}}, what);
}

size_t
nn_graph_linear_onto(struct nn_graph *graph, size_t in, size_t onto,
                     const struct nn_linear *what)
{
    const struct num_map *map = &graph->values[onto].map;

    REQUIRE(map->c == what->out && map->h * map->w == 1 &&
            map->bf16 == graph->values[in].map.bf16);
    return add_layer(graph, (struct nn_op){.n_in = 2, .in = {in, onto}}, what);
}

void
nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                   float *statistics)
{
    const struct num_map *image = &graph->values[0].map;
    const struct nn_tensor *w = &graph->tensors[graph->ops[0].tensor];
    const int filters = w->rank == 4;
    const size_t n = w->shape[0], width = w->count / n;
    const size_t k = filters ? n / 2 : n, pixels = width / image->c;
    const float *offset = rows + k * width;

    REQUIRE(w->statistic);
    for (size_t r = 0; r < n; r++) {
        const float *row = rows + r % k * width;
        float *to = statistics + w->offset + r * width;

        for (size_t i = 0; i < width; i++) // from pixels to planes
            to[i % image->c * pixels + i / image->c] = r < k ? row[i] : -row[i];
        if (!filters)
            statistics[w[1].offset + r] = (float)-num_dot(width, row, offset);
    }
}

/* The layer of a step, without its arrays. */
static struct num_dense
dense_of(const struct nn_graph *graph, const struct nn_plan *plan,
         const struct nn_op *op)
{
    const struct linear *set = op->set;
    const struct num_map map = nn_map(graph, plan, op->out);

    return (struct num_dense){.n = map.n,
                              .in = graph->tensors[op->tensor].count / map.c,
                              .out = map.c,
                              .transposed = set->transposed,
                              .bf16 = map.bf16};
}

static int
linear_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
               struct nn_step *step)
{
    const struct num_dense dense = dense_of(graph, plan, &step->op);

    step->needs = (struct nn_needs){
        .scratch = num_dense_scratch(&dense),
        .reads = !graph->tensors[step->op.tensor].statistic,
        .over = 2, // the second input, which is added
        .over_dy = 2,
    };
    return 0;
}

/* The layer of a call, with what all passes read. */
static struct num_dense
linear_args(const struct nn_call *call)
{
    const struct linear *set = call->step->op.set;
    struct num_dense dense = dense_of(call->graph, call->plan, &call->step->op);

    dense.w = nn_param(call, 0);
    dense.b = set->bias ? nn_param(call, 1) : NULL;
    dense.x = call->x[0];
    dense.scratch = call->scratch;
    return dense;
}

static void
linear_forward(const struct nn_call *call)
{
    struct num_dense dense = linear_args(call);

    dense.r = call->x[1];
    dense.y = call->y;
    num_dense_forward(&dense);
}

static void
linear_backward(const struct nn_call *call)
{
    struct num_dense dense = linear_args(call);

    dense.dy = call->dy;
    dense.dx = call->dx[0];
    dense.add = call->add;
    if (!nn_tensor(call, 0)->statistic) {
        dense.dw = nn_grad(call, 0);
        dense.db = dense.b ? nn_grad(call, 1) : NULL;
        num_dense_back_params(&dense);
    }
    if (dense.dx)
        num_dense_back_data(&dense);
    if (call->dx[1] && call->dx[1] != call->dy)
        memcpy(call->dx[1], call->dy,
               num_half_bytes(dense.n * dense.out, dense.bf16));
}

/* The code that computes products of bfloat16: its bits depend on the
 * processor. */
static char *
linear_describe(const struct nn_graph *graph, const struct nn_step *step)
{
    const struct nn_tensor *w = &graph->tensors[step->op.tensor];

    if (!graph->values[step->op.out].map.bf16)
        return mem_text("");
    return mem_format("%s %s\n", w->name, num_dense_name(1));
}

const struct nn_operator nn_op_linear = {
    .name = "linear",
    .prepare = linear_prepare,
    .forward = linear_forward,
    .backward = linear_backward,
    .describe = linear_describe,
};
