#include <math.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"

#include "plan.h"

size_t
nn_graph_linear_tensors(struct nn_graph *graph, const char *name, size_t out,
                        size_t in, int fixed)
{
    size_t first =
        nn_graph_tensor(graph, name, "weight", fixed, 2, (size_t[]){out, in});

    nn_graph_tensor(graph, name, "bias", fixed, 1, &out);
    return first;
}

size_t
nn_graph_linear(struct nn_graph *graph, size_t in, size_t tensor)
{
    return nn_graph_add(
        graph,
        (struct nn_op){
            .is = &nn_op_linear, .n_in = 1, .in = {in}, .tensor = tensor},
        nn_graph_rows(graph->tensors[tensor].shape[0]));
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

/* Uniform within +-1 / sqrt(fan_in), as torchvision has it; normal behind a
 * basis. */
static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    double fan_in = (double)graph->tensors[op->tensor].shape[1];
    int basis = is_behind_basis(graph, op);
    double deviation = basis ? sqrt(1 / (fan_in + 1)) : 0;
    double bound = basis ? 0 : sqrt(1 / fan_in);

    (void)statistics;
    if (is_fixed(graph, op)) // not ours to draw
        return;
    nn_draw(graph, op->tensor, seed, deviation, bound, params);
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
    step->needs.reads = !is_fixed(graph, &step->op);
    return 0;
}

static void
forward(const struct nn_call *call)
{
    const struct nn_tensor *w = nn_tensor(call, 0);
    size_t n = nn_map_out(call).n, out = w->shape[0], in = w->shape[1];
    const float *b = nn_param(call, 1);
    float *y = call->y;

    for (size_t i = 0; i < n; i++)
        memcpy(y + i * out, b, out * sizeof *y);
    num_gemm_nt(n, out, in, 1, call->x[0], nn_param(call, 0), 1, y);
}

static void
back_params(const struct nn_call *call, size_t n, size_t out, size_t in)
{
    const float *dy = call->dy;
    float *db = nn_grad(call, 1);

    num_gemm_tn(out, in, n, 1, dy, call->x[0], call->add ? 1 : 0,
                nn_grad(call, 0));
    for (size_t o = 0; o < out; o++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += dy[i * out + o];
        db[o] = (call->add ? db[o] : 0) + (float)sum;
    }
}

static void
backward(const struct nn_call *call)
{
    const struct nn_tensor *w = nn_tensor(call, 0);
    size_t n = nn_map_out(call).n, out = w->shape[0], in = w->shape[1];

    if (!w->statistic)
        back_params(call, n, out, in);
    if (call->dx[0])
        num_gemm_nn(n, in, out, 1, call->dy, nn_param(call, 0), 0, call->dx[0]);
}

const struct nn_operator nn_op_linear = {
    .name = "linear",
    .init = init,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
