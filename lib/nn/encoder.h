#pragma once

#include "graph.h"

enum { NN_SIZES = 4, NN_STAGES = 4 };

/* An encoder to build: its row, its spec, and the sizes of its arch, such as
 * "clip:128x2x4": numbers, the last of which may be the heads. */
struct nn_design {
    const struct nn_encoder *encoder;
    const struct nn_spec *spec;
    size_t size[NN_SIZES];
};

/* Adds an encoder to a graph after value `in` and returns its last value.  The
 * spec is valid. */
typedef size_t nn_build(struct nn_graph *graph, const struct nn_design *design,
                        size_t in);

/* An encoder: a row in lib/nn/encoder.c.  lib/README.md 5 says how to add
 * one. */
struct nn_encoder {
    const char *name;
    enum nn_input_kind input;
    int basis; /* it may read pixels in a fixed basis, or fixed rows */
    int bf16;  /* its activations may be bf16 */
    int rows;  /* it reads rows of numbers, as images of four channels */
    int bare;  /* other programs store it without a projection */

    /* Form of the sizes after the name and a colon, "WxL[xH]": `sizes` numbers,
     * and with `heads` the number of heads, by default W / 64.  NULL: none.
     * Sizes that are not `required` have defaults. */
    const char *form;
    size_t sizes;
    int heads, required;
    size_t defaults[NN_SIZES];

    nn_build *build;

    /* of residual networks: channels of the first stage, blocks of each */
    size_t width, blocks[NN_STAGES];
    int bottleneck;
};

/* nn_encoder_find() returns the row of a spec's arch, "resnet18" or
 * "clip:128x2"; NULL with all names in err. */
const struct nn_encoder *nn_encoder_find(const char *arch, struct err *err);

/* nn_encoder_check() returns -1 with the reason for invalid sizes of a spec's
 * arch, or if its images or texts do not fit them. */
int nn_encoder_check(const struct nn_encoder *encoder,
                     const struct nn_spec *spec, struct err *err);

/* nn_encoder_build() adds the encoder of a valid spec after value `in` and
 * returns its last value. */
size_t nn_encoder_build(struct nn_graph *graph,
                        const struct nn_encoder *encoder,
                        const struct nn_spec *spec, size_t in);

/* Builders, in lib/nn/resnet.c, head.c and transformer.c. */
nn_build nn_resnet, nn_mlp, nn_linear, nn_rows, nn_table, nn_frozen, nn_bow,
    nn_clip, nn_distilbert, nn_vit;
