#include <math.h>

#include "encoder.h"
#include "ops.h"
#include "sizes.h"
#include "transformer.h"

/* Vision transformers (Dosovitskiy et al. 2020, arXiv:2010.11929) with
 * torchvision's layers and names: a class token and the patches; the feature is
 * the class token's row after the last norm. */
size_t
nn_vit(struct nn_graph *graph, const struct nn_encoder *encoder,
       const struct nn_spec *spec, size_t x)
{
    const struct nn_sizes sizes = nn_sizes_of(encoder, spec->arch);
    const double epsilon = 1e-6;
    const size_t patch = sizes.of[2], read = spec->channels * patch * patch;
    const struct nn_blocks blocks = {
        .width = sizes.of[0],
        .layers = sizes.of[1],
        .heads = sizes.of[3],
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
