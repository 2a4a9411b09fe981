#ifndef NN_TRANSFORMER_H
#define NN_TRANSFORMER_H

#include "num/tokens.h"

#include "ops.h"

/*
 * Parts of transformers (Vaswani et al. 2017, arXiv:1706.03762) on rows of
 * tokens.  The blocks of CLIP and ViT have norms before their layers:
 *
 *     x += out(attention(ln_1 x)),    x += proj(gelu(fc(ln_2 x)))
 *
 * Initial weights are normal: queries, keys and values with deviation W^-1/2,
 * out and proj with (2 W L)^-1/2, fc with (2 W)^-1/2; biases are 0.
 */
struct nn_blocks {
    size_t width, layers, heads;
    int causal;
    enum nn_pick pick; /* the token of a sample that is the result */
    double epsilon;    /* of the norms */
    enum num_gelu gelu;

    /* Names: block i is PATH with i for its %zu, and contains ATTENTION, FC and
     * PROJ. */
    const char *path, *attention, *fc, *proj;
};

/*
 * nn_blocks() adds all layers after value x, and returns the last value: for
 * each sample the row of the token `pick`.  After the last attention only that
 * token is computed.
 */
size_t nn_blocks(struct nn_graph *graph, const struct nn_blocks *b, size_t x);

/* nn_ln() adds a layer norm with its tensors. */
size_t nn_ln(struct nn_graph *graph, size_t x, const char *name,
             double epsilon);

#endif
