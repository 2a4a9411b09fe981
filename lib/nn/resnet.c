#include <stdio.h>
#include <string.h>

#include "encoder.h"

/* Residual networks: He, Zhang, Ren and Sun 2015, arXiv:1512.03385, with a 1x1
 * convolution in shortcuts that change the shape. */

/* Settings of all blocks of a network. */
struct build {
    struct nn_graph *graph;
    enum num_norm_kind norm;
    size_t block;
    int bottleneck;
};

/* A convolution with its norm: first their tensors, later their operators. */
struct pair {
    size_t conv, norm;
};

static struct pair
add_tensors(const struct build *b, const char *conv, const char *norm,
            size_t out, size_t in, size_t kernel, int fixed)
{
    struct pair pair;

    pair.conv = nn_graph_conv_tensors(b->graph, conv, out, in, kernel,
                                      b->norm == NUM_NORM_NONE, fixed);
    pair.norm = nn_graph_norm_tensors(b->graph, norm, b->norm, out);
    return pair;
}

static size_t
add_conv_norm(const struct build *b, size_t in, struct pair pair, size_t stride,
              size_t add, int relu)
{
    size_t out = nn_graph_conv(b->graph, in, pair.conv, b->block, stride);

    return nn_graph_norm(b->graph, out, pair.norm, b->norm, add, relu);
}

/* Adds a residual block, named "layer1.0"; returns relu(shortcut + f(in)).  The
 * shortcut runs first, because the block adds to its result. */
static size_t
add_residual_block(const struct build *b, size_t in, const char *name,
                   size_t width, size_t stride)
{
    int parts = b->bottleneck ? 3 : 2;
    size_t c = b->graph->values[in].map.c,
           out = b->bottleneck ? 4 * width : width;
    size_t shortcut = in;
    struct pair part[3];

    for (int i = 0; i < parts; i++) {
        char conv[128], norm[128];

        snprintf(conv, sizeof conv, "%s.conv%d", name, i + 1);
        snprintf(norm, sizeof norm, "%s.bn%d", name, i + 1);
        part[i] =
            add_tensors(b, conv, norm, i == parts - 1 ? out : width,
                        i ? width : c, b->bottleneck && i != 1 ? 1 : 3, 0);
    }
    if (stride != 1 || c != out) {
        char conv[128], norm[128];

        snprintf(conv, sizeof conv, "%s.downsample.0", name);
        snprintf(norm, sizeof norm, "%s.downsample.1", name);
        shortcut =
            add_conv_norm(b, in, add_tensors(b, conv, norm, out, c, 1, 0),
                          stride, nn_none, 0);
    }
    for (int i = 0; i < parts; i++) {
        int last = i == parts - 1, strided = b->bottleneck ? i == 1 : i == 0;

        in = add_conv_norm(b, in, part[i], strided ? stride : 1,
                           last ? shortcut : nn_none, 1);
    }
    return in;
}

size_t
nn_resnet(struct nn_graph *graph, const struct nn_design *design, size_t in)
{
    const struct nn_encoder *encoder = design->encoder;
    const struct nn_spec *spec = design->spec;
    size_t width = spec->width ? (size_t)spec->width : encoder->width,
           c = graph->values[in].map.c;
    int large = !strcmp(spec->stem, "imagenet");
    enum num_norm_kind norm = !strcmp(spec->norm, "batch")   ? NUM_NORM_BATCH
                              : !strcmp(spec->norm, "group") ? NUM_NORM_GROUP
                                                             : NUM_NORM_NONE;
    struct build b = {graph, norm, num_map_block(width), encoder->bottleneck};
    size_t x = add_conv_norm(&b, in,
                             add_tensors(&b, "conv1", "bn1", width, c,
                                         large ? 7 : 3, spec->basis > 0),
                             large ? 2 : 1, nn_none, 1);

    if (large)
        x = nn_graph_max(graph, x, 3, 2);
    for (size_t s = 0; s < NN_STAGES; s++)
        for (size_t i = 0; i < encoder->blocks[s]; i++) {
            char name[64];

            snprintf(name, sizeof name, "layer%zu.%zu", s + 1, i);
            x = add_residual_block(&b, x, name, width << s, s && !i ? 2 : 1);
        }
    return nn_graph_mean(graph, x);
}
