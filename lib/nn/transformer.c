#include <math.h>
#include <stdio.h>

#include "encoder.h"

/*
 * Parts of transformers (Vaswani et al. 2017, arXiv:1706.03762) on rows of
 * tokens.  The blocks of CLIP and ViT have norms before their layers:
 *
 *     x += out(attention(ln_1 x)),    x += proj(gelu(fc(ln_2 x)))
 *
 * Initial weights are normal: queries, keys and values with deviation W^-1/2,
 * out and proj with (2 W L)^-1/2, fc with (2 W)^-1/2; biases are 0.
 */
struct blocks {
    size_t width, layers, heads;
    int causal;
    enum nn_pick pick; /* the token of a sample that is the result */
    double epsilon;    /* of the norms */
    enum num_gelu gelu;

    /* Names: block i is PATH with i for its %zu, and contains ATTENTION, FC and
     * PROJ. */
    const char *path, *attention, *fc, *proj;
};

/* Adds a layer norm with its tensors. */
static size_t
add_ln(struct nn_graph *graph, size_t x, const char *name, double epsilon)
{
    const size_t c = graph->values[x].map.c;

    return nn_graph_layer_norm(
        graph, x, nn_graph_layer_norm_tensors(graph, name, c), epsilon);
}

/* Writes the name of a layer of block i: PATH, a dot and LAST. */
static const char *
block_tensor_name(char name[256], const struct blocks *b, size_t i,
                  const char *last)
{
    int len = snprintf(name, 128, b->path, i);

    snprintf(name + len, 128, ".%s", last);
    return name;
}

static size_t
add_attention(struct nn_graph *graph, const struct blocks *b, size_t i,
              size_t x)
{
    const double w = (double)b->width, layers = (double)b->layers;
    char name[256], last[64];
    size_t y =
        add_ln(graph, x, block_tensor_name(name, b, i, "ln_1"), b->epsilon);

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
add_mlp(struct nn_graph *graph, const struct blocks *b, size_t i, size_t x)
{
    const double w = (double)b->width, layers = (double)b->layers;
    char name[256];
    size_t y =
        add_ln(graph, x, block_tensor_name(name, b, i, "ln_2"), b->epsilon);

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

/* Adds all layers after value x; returns for each sample the row of the token
 * `pick`.  After the last attention only that token is computed. */
static size_t
add_blocks(struct nn_graph *graph, const struct blocks *b, size_t x)
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
    const struct blocks blocks = {
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
    x = add_blocks(graph, &blocks, x);
    return add_ln(graph, x, "encoder.ln", epsilon);
}

/* Text encoders: input are the packed tokens of all texts, output is a row for
 * each text.  Names and layouts are those of open_clip and of Hugging Face's
 * DistilBERT. */
static const double clip_epsilon = 1e-5, bert_epsilon = 1e-12, deviation = 0.02;

static enum num_gelu
gelu_of(const struct nn_spec *spec)
{
    return spec->quick_gelu ? NUM_GELU_QUICK : NUM_GELU_ERF;
}

/* Adds token vectors, and sets the context of the graph. */
static size_t
add_embedding(struct nn_graph *graph, const struct nn_spec *spec, size_t x,
              const char *name, size_t width)
{
    graph->context = (size_t)spec->context;
    return nn_graph_embedding(graph, x, name, (size_t)spec->vocabulary, width,
                              deviation, spec->bf16);
}

/* The mean of the token vectors, normalised: no order, no layers. */
size_t
nn_bow(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    x = add_embedding(graph, design->spec, x, "token_embedding",
                      design->size[0]);
    return add_ln(graph, nn_graph_token_mean(graph, x), "ln_final",
                  clip_epsilon);
}

/* The text tower of CLIP: Radford et al. 2021, arXiv:2103.00020. */
size_t
nn_clip(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    const struct nn_spec *spec = design->spec;
    const struct blocks blocks = {
        .width = design->size[0],
        .layers = design->size[1],
        .heads = design->size[2],
        .causal = 1,
        .pick = NN_LAST,
        .epsilon = clip_epsilon,
        .gelu = gelu_of(spec),
        .path = "transformer.resblocks.%zu",
        .attention = "attn",
        .fc = "mlp.c_fc",
        .proj = "mlp.c_proj",
    };

    x = add_embedding(graph, spec, x, "token_embedding", blocks.width);
    x = nn_graph_position(graph, x, "positional_embedding", 0, 0.01);
    x = add_blocks(graph, &blocks, x);
    return add_ln(graph, x, "ln_final", clip_epsilon);
}

/* Adds a linear layer of a block; its result is added to value `onto`, unless
 * nn_none. */
static size_t
add_linear(struct nn_graph *graph, size_t x, size_t onto, const char *path,
           const char *last, size_t out)
{
    char name[128];
    const struct nn_linear what = {
        .name = name, .out = out, .deviation = deviation};

    snprintf(name, sizeof name, "%s.%s", path, last);
    return onto == nn_none ? nn_graph_linear(graph, x, &what)
                           : nn_graph_linear_onto(graph, x, onto, &what);
}

/* A block with norms after its layers: x = ln(x + out(attention(x))), and the
 * same for the other two layers.  Of the last block only the first token of a
 * text is used. */
static size_t
bert_block(struct nn_graph *graph, const struct nn_spec *spec, const char *path,
           size_t heads, int is_last, size_t x)
{
    const size_t width = graph->values[x].map.c;
    const size_t in[] = {
        add_linear(graph, x, nn_none, path, "attention.q_lin", width),
        add_linear(graph, x, nn_none, path, "attention.k_lin", width),
        add_linear(graph, x, nn_none, path, "attention.v_lin", width),
    };
    char name[128];
    size_t y = nn_graph_attention(graph, 3, in, heads, 0);

    if (is_last) {
        y = nn_graph_token_pick(graph, y, NN_FIRST);
        x = nn_graph_token_pick(graph, x, NN_FIRST);
    }
    y = add_linear(graph, y, x, path, "attention.out_lin", width);
    snprintf(name, sizeof name, "%s.sa_layer_norm", path);
    x = add_ln(graph, y, name, bert_epsilon);
    y = add_linear(graph, x, nn_none, path, "ffn.lin1", 4 * width);
    y = nn_graph_gelu(graph, y, gelu_of(spec));
    y = add_linear(graph, y, x, path, "ffn.lin2", width);
    snprintf(name, sizeof name, "%s.output_layer_norm", path);
    return add_ln(graph, y, name, bert_epsilon);
}

/* Sanh, Debut, Chaumond and Wolf 2019, arXiv:1910.01108. */
size_t
nn_distilbert(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    const struct nn_spec *spec = design->spec;

    x = add_embedding(graph, spec, x, "embeddings.word_embeddings",
                      design->size[0]);
    x = nn_graph_position(graph, x, "embeddings.position_embeddings.weight", 0,
                          deviation);
    x = add_ln(graph, x, "embeddings.LayerNorm", bert_epsilon);
    for (size_t i = 0; i < design->size[1]; i++) {
        char path[64];

        snprintf(path, sizeof path, "transformer.layer.%zu", i);
        x = bert_block(graph, spec, path, design->size[2],
                       i + 1 == design->size[1], x);
    }
    return x;
}
