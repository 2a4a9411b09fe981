#include <stdio.h>

#include "encoder.h"
#include "ops.h"
#include "transformer.h"

/*
 * Text encoders: input are the packed tokens of all texts, output is a row for
 * each text.  Names and layouts are those of open_clip and of Hugging Face's
 * DistilBERT.
 */
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
    return nn_ln(graph, nn_graph_token_mean(graph, x), "ln_final",
                 clip_epsilon);
}

/* The text tower of CLIP: Radford et al. 2021, arXiv:2103.00020. */
size_t
nn_clip(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    const struct nn_spec *spec = design->spec;
    const struct nn_blocks blocks = {
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
    x = nn_blocks(graph, &blocks, x);
    return nn_ln(graph, x, "ln_final", clip_epsilon);
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
    x = nn_ln(graph, y, name, bert_epsilon);
    y = add_linear(graph, x, nn_none, path, "ffn.lin1", 4 * width);
    y = nn_graph_gelu(graph, y, gelu_of(spec));
    y = add_linear(graph, y, x, path, "ffn.lin2", width);
    snprintf(name, sizeof name, "%s.output_layer_norm", path);
    return nn_ln(graph, y, name, bert_epsilon);
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
    x = nn_ln(graph, x, "embeddings.LayerNorm", bert_epsilon);
    for (size_t i = 0; i < design->size[1]; i++) {
        char path[64];

        snprintf(path, sizeof path, "transformer.layer.%zu", i);
        x = bert_block(graph, spec, path, design->size[2],
                       i + 1 == design->size[1], x);
    }
    return x;
}
