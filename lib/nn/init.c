#include <math.h>
#include <string.h>

#include "num/vec.h"
#include "util/rng.h"

#include "graph.h"

/* Fills a tensor: normal of that deviation, or uniform within +-bound. */
static void
draw(const struct nn_tensor *t, uint64_t seed, size_t number, double deviation,
     double bound, float *block)
{
    float *x = block + t->offset;
    struct rng rng;

    rng_init(&rng, seed, RNG_INIT, number, 0, 0);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (float)(bound > 0 ? rng_range(&rng, -bound, bound)
                                 : deviation * rng_normal(&rng));
}

static void
fill(const struct nn_tensor *t, float value, float *block)
{
    for (size_t i = 0; i < t->count; i++)
        block[t->offset + i] = value;
}

static void
init_norm(const struct nn_op *op, const struct nn_tensor *t, float *params,
          float *statistics)
{
    fill(t, 1, params);
    fill(t + 1, 0, params);
    if (op->norm == NUM_NORM_BATCH) {
        fill(t + 2, 0, statistics);
        fill(t + 3, 1, statistics);
    }
}

/* The layer in front is a fixed basis. */
static int
is_behind_basis(const struct nn_graph *graph, const struct nn_op *op)
{
    return op > graph->ops && op[-1].kind == NN_OP_LINEAR &&
           graph->tensors[op[-1].tensor].statistic;
}

/* A convolution or a linear layer. */
static void
init_weights(const struct nn_graph *graph, const struct nn_op *op,
             uint64_t seed, float *params)
{
    const struct nn_tensor *w = &graph->tensors[op->tensor];
    double fan_in = (double)w->count / (double)w->shape[0];
    double fan_out = (double)(w->count / w->shape[1]);
    double bound = sqrt(1 / fan_in), deviation = sqrt(2 / fan_out);
    int linear = op->kind == NN_OP_LINEAR;

    if (w->statistic) // not ours to draw
        return;
    if (is_behind_basis(graph, op)) {
        deviation = sqrt(1 / (fan_in + 1));
        draw(w, seed, op->tensor, deviation, 0, params);
        draw(w + 1, seed, op->tensor + 1, deviation, 0, params);
        return;
    }
    draw(w, seed, op->tensor, deviation, linear ? bound : 0, params);
    if (op->bias)
        draw(w + 1, seed, op->tensor + 1, 0, bound, params);
}

void
nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
              float *statistics)
{
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        const struct nn_tensor *t;

        if (op->tensor == nn_none)
            continue;
        t = &graph->tensors[op->tensor];
        if (op->kind == NN_OP_TABLE)
            draw(t, seed, op->tensor, 1, 0, params);
        else if (op->kind == NN_OP_NORM)
            init_norm(op, t, params, statistics);
        else
            init_weights(graph, op, seed, params);
    }
}

void
nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                   float *statistics)
{
    const struct num_map *image = &graph->values[0];
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
