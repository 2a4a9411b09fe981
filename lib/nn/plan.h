#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "operator.h"

/* A value that is made again before backward of step `before`: the places of
 * what its writer reads, and its own. */
struct nn_again {
    size_t before, value, in[NN_INPUTS], out;
};

/*
 * A graph made ready for n samples: what its operators prepared, and the offset
 * of everything in one block of memory (lib/nn/memory.c).
 */
struct nn_plan {
    struct num_dnn *dnn;
    size_t n, tokens; /* samples; tokens of all samples, where there are any */
    int train;
    int direct;            /* no Winograd convolutions */
    struct nn_step *steps; /* [n_ops of the graph] */
    size_t n_steps;
    struct nn_again *again; /* [n_again], in the order of backward */
    size_t n_again;
    size_t sums; /* the most that a step wants: their place */
    size_t input, offsets, feature, output, dz; /* offsets */
    size_t bytes;                               /* of the block */
};

/*
 * nn_plan_new() makes one.  NULL when the processor cannot do bfloat16.
 *   what  of the plan: dnn, n, tokens, train and direct
 */
struct nn_plan *nn_plan_new(const struct nn_graph *graph, struct nn_plan what);
void nn_plan_free(struct nn_plan *plan);

/* nn_plan_memory() gives each value its offset in the block, when all steps are
 * made. */
void nn_plan_memory(struct nn_plan *plan, const struct nn_graph *graph);

#endif
