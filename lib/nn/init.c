#include "util/rng.h"

#include "operator.h"

void
nn_draw(const struct nn_graph *graph, size_t number, uint64_t seed,
        double deviation, double bound, float *block)
{
    const struct nn_tensor *t = &graph->tensors[number];
    float *x = block + t->offset;
    struct rng rng;

    // image and text tower get different numbers from one seed
    rng_init(&rng, seed, RNG_INIT, number, graph->input == NN_TOKENS, 0);
    for (size_t i = 0; i < t->count; i++)
        x[i] = (float)(bound > 0 ? rng_range(&rng, -bound, bound)
                                 : deviation * rng_normal(&rng));
}

void
nn_fill(const struct nn_graph *graph, size_t number, float value, float *block)
{
    const struct nn_tensor *t = &graph->tensors[number];

    for (size_t i = 0; i < t->count; i++)
        block[t->offset + i] = value;
}

void
nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
              float *statistics)
{
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];

        if (op->tensor != nn_none)
            op->is->init(graph, op, seed, params, statistics);
    }
}
