#include <math.h>
#include <stdio.h>

#include "transformer.h"

size_t
nn_ln(struct nn_graph *graph, size_t x, const char *name, double epsilon)
{
    const size_t c = graph->values[x].map.c;

    return nn_graph_layer_norm(
        graph, x, nn_graph_layer_norm_tensors(graph, name, c), epsilon);
}

/* "PATH.LAST" of block i. */
static const char *
block_tensor_name(char name[256], const struct nn_blocks *b, size_t i,
                  const char *last)
{
    int len = snprintf(name, 128, b->path, i);

    snprintf(name + len, 128, ".%s", last);
    return name;
}

static size_t
add_attention(struct nn_graph *graph, const struct nn_blocks *b, size_t i,
              size_t x)
{
    const double w = (double)b->width, layers = (double)b->layers;
    char name[256], last[64];
    size_t y =
        nn_ln(graph, x, block_tensor_name(name, b, i, "ln_1"), b->epsilon);

    snprintf(last, sizeof last, "%s.in_proj", b->attention);
    y = nn_graph_linear(
        graph, y,
        &(struct nn_linear){.name = block_tensor_name(name, b, i, last),
                            .out = 3 * b->width,
                            .joined = 1,
                            .deviation = pow(w, -0.5)});
    y = nn_graph_attention(graph, 1, &y, b->heads, b->causal);
    if (i + 1 == b->layers) {
        y = nn_graph_token_pick(graph, y, b->pick);
        x = nn_graph_token_pick(graph, x, b->pick);
    }
    snprintf(last, sizeof last, "%s.out_proj", b->attention);
    return nn_graph_linear_onto(
        graph, y, x,
        &(struct nn_linear){.name = block_tensor_name(name, b, i, last),
                            .out = b->width,
                            .deviation = pow(2 * w * layers, -0.5)});
}

static size_t
add_mlp(struct nn_graph *graph, const struct nn_blocks *b, size_t i, size_t x)
{
    const double w = (double)b->width, layers = (double)b->layers;
    char name[256];
    size_t y =
        nn_ln(graph, x, block_tensor_name(name, b, i, "ln_2"), b->epsilon);

    y = nn_graph_linear(
        graph, y,
        &(struct nn_linear){.name = block_tensor_name(name, b, i, b->fc),
                            .out = 4 * b->width,
                            .deviation = pow(2 * w, -0.5)});
    y = nn_graph_gelu(graph, y, b->gelu);
    return nn_graph_linear_onto(
        graph, y, x,
        &(struct nn_linear){.name = block_tensor_name(name, b, i, b->proj),
                            .out = b->width,
                            .deviation = pow(2 * w * layers, -0.5)});
}

size_t
nn_blocks(struct nn_graph *graph, const struct nn_blocks *b, size_t x)
{
    for (size_t i = 0; i < b->layers; i++)
        x = add_mlp(graph, b, i, add_attention(graph, b, i, x));
    return x;
}
