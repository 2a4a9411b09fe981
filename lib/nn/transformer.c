#include <math.h>
#include <stdio.h>

#include "encoder.h"
#include "transformer.h"

size_t
nn_ln(struct nn_graph *graph, size_t x, const char *name, double epsilon)
{
    const size_t c = graph->values[x].map.c;

    return nn_graph_layer_norm(
        graph, x, nn_graph_layer_norm_tensors(graph, name, c), epsilon);
}

/* Writes the name of a layer of block i: PATH, a dot and LAST. */
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

/* Vision transformers (Dosovitskiy et al. 2020, arXiv:2010.11929) with
 * torchvision's layers and names: a class token and the patches; the feature is
 * the class token's row after the last norm. */
size_t
nn_vit(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    const double epsilon = 1e-6;
    const size_t patch = design->size[2],
                 read = design->spec->channels * patch * patch;
    const struct nn_blocks blocks = {
        .width = design->size[0],
        .layers = design->size[1],
        .heads = design->size[3],
        .pick = NN_FIRST,
        .epsilon = epsilon,
        .gelu = NUM_GELU_ERF,
        .path = "encoder.layers.encoder_layer_%zu",
        .attention = "self_attention",
        .fc = "mlp.0",
        .proj = "mlp.3",
    };

    x = nn_graph_patches(graph, x, patch);
    x = nn_graph_linear(
        graph, x,
        &(struct nn_linear){.name = "conv_proj",
                            .out = blocks.width,
                            .patch = patch,
                            .deviation = pow((double)read, -0.5)});
    x = nn_graph_class_token(graph, x, "class_token");
    x = nn_graph_position(graph, x, "encoder.pos_embedding", 1, 0.02);
    x = nn_blocks(graph, &blocks, x);
    return nn_ln(graph, x, "encoder.ln", epsilon);
}
