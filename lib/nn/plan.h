#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "operator.h"

/* A value that is recomputed before the backward pass of step `before`: offsets
 * of the inputs of the operator that computes it, and of the value. */
struct nn_recompute {
    size_t before, value, in[NN_INPUTS], out;
};

/*
 * A graph prepared for n samples: its operators' steps, and the offset of each
 * buffer in one block of memory (lib/nn/memory.c).
 */
struct nn_plan {
    struct num_dnn *dnn;
    size_t n, tokens; /* samples; tokens of all samples */
    int train;
    int direct;            /* no Winograd convolutions */
    struct nn_step *steps; /* [n_ops of the graph] */
    size_t n_steps;
    struct nn_recompute
        *recompute; /* [n_recompute], in the order of backward */
    size_t n_recompute;
    size_t sums; /* offset of the sums of images, of one step at a time */
    size_t input, offsets, feature, output, dz; /* offsets */
    size_t bytes;                               /* of the block */
};

/*
 * nn_plan_new() makes a plan; NULL if the processor cannot run an operator.
 *   what  the caller sets dnn, n, tokens, train and direct
 */
struct nn_plan *nn_plan_new(const struct nn_graph *graph, struct nn_plan what);
void nn_plan_free(struct nn_plan *plan);

/* nn_plan_memory() assigns each buffer its offset in the block, after all steps
 * are prepared. */
void nn_plan_memory(struct nn_plan *plan, const struct nn_graph *graph);

#endif
