#ifndef NN_ENCODER_H
#define NN_ENCODER_H

#include "graph.h"

enum { NN_SIZES = 4 };

/*
 * The encoders that there are: a new one is a row in lib/nn/encoder.c and a
 * function that builds its graph.
 */
struct nn_encoder {
    const char *name;
    enum nn_input_kind input;
    int basis; /* it may see pixels in a fixed basis; or given rows, so wide */
    int bf16;  /* its activations may be bf16 */
    int bare;  /* as other programs have it, no projection belongs to it */

    /* What stands behind the name and a colon, "WxL[xH]": so many sizes, with
     * `heads` the number of heads too, which is W / 64 where it is left out.
     * NULL: nothing.  What is not `required` is `given` where it is missing
     * (sizes.h). */
    const char *form;
    size_t sizes;
    int heads, required;
    size_t given[NN_SIZES];

    /* Adds the encoder to a graph, from value `in` on, and returns its last
     * value.  The spec was checked before. */
    size_t (*build)(struct nn_graph *graph, const struct nn_encoder *encoder,
                    const struct nn_spec *spec, size_t in);

    /* of residual networks: channels and blocks of each stage */
    size_t width, stages, blocks[4];
    int bottleneck;
};

/* nn_encoder_find() returns the row of a spec's arch, "resnet18" or
 * "clip:128x2"; NULL with a sentence that lists them all. */
const struct nn_encoder *nn_encoder_find(const char *arch, struct err *err);

/* Builders: see their files, lib/nn/resnet.c, head.c, text.c and vit.c. */
size_t nn_resnet(struct nn_graph *graph, const struct nn_encoder *encoder,
                 const struct nn_spec *spec, size_t in);
size_t nn_mlp(struct nn_graph *graph, const struct nn_encoder *encoder,
              const struct nn_spec *spec, size_t in);
size_t nn_linear(struct nn_graph *graph, const struct nn_encoder *encoder,
                 const struct nn_spec *spec, size_t in);
size_t nn_rows(struct nn_graph *graph, const struct nn_encoder *encoder,
               const struct nn_spec *spec, size_t in);
size_t nn_table(struct nn_graph *graph, const struct nn_encoder *encoder,
                const struct nn_spec *spec, size_t in);
size_t nn_bow(struct nn_graph *graph, const struct nn_encoder *encoder,
              const struct nn_spec *spec, size_t in);
size_t nn_clip(struct nn_graph *graph, const struct nn_encoder *encoder,
               const struct nn_spec *spec, size_t in);
size_t nn_distilbert(struct nn_graph *graph, const struct nn_encoder *encoder,
                     const struct nn_spec *spec, size_t in);
size_t nn_vit(struct nn_graph *graph, const struct nn_encoder *encoder,
              const struct nn_spec *spec, size_t in);

#endif
