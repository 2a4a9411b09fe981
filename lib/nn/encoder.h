#ifndef NN_ENCODER_H
#define NN_ENCODER_H

#include "graph.h"

/*
 * The encoders that there are: a new one is a row in lib/nn/encoder.c and a
 * function that builds its graph.
 */
struct nn_encoder {
    const char *name;
    enum nn_input_kind input;
    int basis; /* it may see pixels in a fixed basis */
    int bf16;  /* its activations may be bf16 */

    /* Adds the encoder to a graph, from value `in` on, and returns its last
     * value.  The spec was judged before. */
    size_t (*build)(struct nn_graph *graph, const struct nn_encoder *encoder,
                    const struct nn_spec *spec, size_t in);

    /* of residual networks: channels and blocks of each stage */
    size_t width, stages, blocks[4];
    int bottleneck;
};

/* nn_encoder_find() returns the row of a name; NULL with a sentence that lists
 * them all. */
const struct nn_encoder *nn_encoder_find(const char *name, struct err *err);

/* Builders: see their files, lib/nn/resnet.c and lib/nn/head.c. */
size_t nn_resnet(struct nn_graph *graph, const struct nn_encoder *encoder,
                 const struct nn_spec *spec, size_t in);
size_t nn_mlp(struct nn_graph *graph, const struct nn_encoder *encoder,
              const struct nn_spec *spec, size_t in);
size_t nn_linear(struct nn_graph *graph, const struct nn_encoder *encoder,
                 const struct nn_spec *spec, size_t in);
size_t nn_table(struct nn_graph *graph, const struct nn_encoder *encoder,
                const struct nn_spec *spec, size_t in);

#endif
