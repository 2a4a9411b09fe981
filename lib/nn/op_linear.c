#include <math.h>
#include <stdio.h>
#include <string.h>

#include "num/gemm.h"
#include "num/tokens.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

#include "plan.h"

struct linear {
    int bias, across;
    double deviation;
};

static size_t
add_weight(struct nn_graph *graph, const struct nn_linear *what, size_t in)
{
    const size_t p = what->patch, out = what->out;
    char name[256];

    if (what->across)
        return nn_graph_tensor(graph, what->name, NULL, what->fixed, 2,
                               (size_t[]){in, out});
    snprintf(name, sizeof name, "%s%cweight", what->name,
             what->joined ? '_' : '.');
    if (p)
        return nn_graph_tensor(graph, name, NULL, what->fixed, 4,
                               (size_t[]){out, in / (p * p), p, p});
    return nn_graph_tensor(graph, name, NULL, what->fixed, 2,
                           (size_t[]){out, in});
}

static void
add_bias(struct nn_graph *graph, const struct nn_linear *what)
{
    char name[256];

    snprintf(name, sizeof name, "%s%cbias", what->name,
             what->joined ? '_' : '.');
    nn_graph_tensor(graph, name, NULL, what->fixed, 1, &what->out);
}

static size_t
add(struct nn_graph *graph, struct nn_op op, const struct nn_linear *what)
{
    const struct num_map *map = &graph->values[op.in[0]].map;
    struct linear *set = mem_array(1, sizeof *set);

    *set = (struct linear){!what->no_bias, what->across, what->deviation};
    op.is = &nn_op_linear;
    op.set = set;
    op.tensor = add_weight(graph, what, map->c * map->h * map->w);
    if (set->bias)
        add_bias(graph, what);
    return nn_graph_add(graph, op, nn_graph_rows(what->out));
}

size_t
nn_graph_linear(struct nn_graph *graph, size_t in, const struct nn_linear *what)
{
    return add(graph, (struct nn_op){.n_in = 1, .in = {in}}, what);
}

size_t
nn_graph_linear_onto(struct nn_graph *graph, size_t in, size_t onto,
                     const struct nn_linear *what)
{
    const struct num_map *map = &graph->values[onto].map;

    REQUIRE(map->c == what->out && map->h * map->w == 1 && !map->bf16);
    return add(graph, (struct nn_op){.n_in = 2, .in = {in, onto}}, what);
}

static int
is_fixed(const struct nn_graph *graph, const struct nn_op *op)
{
    return graph->tensors[op->tensor].statistic;
}

/* What it reads was written by a fixed basis. */
static int
is_behind_basis(const struct nn_graph *graph, const struct nn_op *op)
{
    size_t writer = graph->values[op->in[0]].writer;

    return writer != nn_none && graph->ops[writer].is == &nn_op_linear &&
           is_fixed(graph, &graph->ops[writer]);
}

/* As it is asked for; else uniform within +-1 / sqrt(fan_in), as torchvision
 * has it, or normal behind a basis. */
static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    const struct nn_tensor *w = &graph->tensors[op->tensor];
    const struct linear *set = op->set;
    double fan_in = (double)w->count / (double)graph->values[op->out].map.c;
    int basis = is_behind_basis(graph, op);
    double deviation = basis ? sqrt(1 / (fan_in + 1)) : 0;
    double bound = basis ? 0 : sqrt(1 / fan_in);

    (void)statistics;
    if (is_fixed(graph, op)) // not ours to draw
        return;
    if (set->deviation > 0) {
        nn_draw(graph, op->tensor, seed, set->deviation, 0, params);
        if (set->bias)
            nn_fill(graph, op->tensor + 1, 0, params);
        return;
    }
    nn_draw(graph, op->tensor, seed, deviation, bound, params);
    if (set->bias)
        nn_draw(graph, op->tensor + 1, seed, deviation, bound, params);
}

void
nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                   float *statistics)
{
    const struct num_map *image = &graph->values[0].map;
    const struct nn_tensor *w = &graph->tensors[graph->ops[0].tensor];
    const size_t k = w->shape[0], width = w->shape[1];
    const size_t pixels = image->h * image->w;
    const float *offset = rows + k * width;

    REQUIRE(w->statistic);
    for (size_t r = 0; r < k; r++) {
        const float *row = rows + r * width;
        float *to = statistics + w->offset + r * width;

        for (size_t i = 0; i < width; i++) // pixels to planes
            to[i % image->c * pixels + i / image->c] = row[i];
        statistics[w[1].offset + r] = (float)-num_dot(width, row, offset);
    }
}

static int
prepare(const struct nn_graph *graph, const struct nn_plan *plan,
        struct nn_step *step)
{
    (void)plan;
    step->needs = (struct nn_needs){
        .reads = !is_fixed(graph, &step->op),
        .over = 2, // onto
        .over_dy = 2,
    };
    return 0;
}

/* Rows, and numbers of a row that is read and one that is written. */
struct shape {
    size_t n, in, out;
};

static struct shape
shape_of(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    return (struct shape){map.n, nn_tensor(call, 0)->count / map.c, map.c};
}

/* What W x is added to: the bias, the other value, or both. */
static void
begin(size_t n, size_t d, const float *bias, const float *onto, float *y)
{
    for (size_t i = 0; i < n; i++, y += d) {
        const float *row = onto ? onto + i * d : bias;

        for (size_t j = 0; onto && bias && j < d; j++)
            y[j] = row[j] + bias[j];
        if (row && row != y && !(onto && bias))
            memcpy(y, row, d * sizeof *y);
    }
}

static void
forward(const struct nn_call *call)
{
    const struct linear *set = call->step->op.set;
    const struct shape s = shape_of(call);
    const float *x = call->x[0], *w = nn_param(call, 0);
    const float *b = set->bias ? nn_param(call, 1) : NULL;
    const float beta = b || call->x[1] ? 1 : 0;
    float *y = call->y;

    begin(s.n, s.out, b, call->x[1], y);
    if (set->across)
        num_gemm_nn(s.n, s.out, s.in, 1, x, w, beta, y);
    else
        num_gemm_nt(s.n, s.out, s.in, 1, x, w, beta, y);
}

static void
back_params(const struct nn_call *call, struct shape s)
{
    const struct linear *set = call->step->op.set;
    const float beta = call->add ? 1 : 0;
    const float *x = call->x[0], *dy = call->dy;
    float *dw = nn_grad(call, 0);

    if (set->across)
        num_gemm_tn(s.in, s.out, s.n, 1, x, dy, beta, dw);
    else
        num_gemm_tn(s.out, s.in, s.n, 1, dy, x, beta, dw);
    if (set->bias)
        num_column_sums(s.n, s.out, dy, call->add, nn_grad(call, 1));
}

static void
backward(const struct nn_call *call)
{
    const struct linear *set = call->step->op.set;
    const struct shape s = shape_of(call);
    const float *w = nn_param(call, 0);

    if (!nn_tensor(call, 0)->statistic)
        back_params(call, s);
    if (call->dx[0] && set->across)
        num_gemm_nt(s.n, s.in, s.out, 1, call->dy, w, 0, call->dx[0]);
    else if (call->dx[0])
        num_gemm_nn(s.n, s.in, s.out, 1, call->dy, w, 0, call->dx[0]);
    if (call->dx[1] && call->dx[1] != call->dy)
        memcpy(call->dx[1], call->dy, s.n * s.out * sizeof(float));
}

const struct nn_operator nn_op_linear = {
    .name = "linear",
    .init = init,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
