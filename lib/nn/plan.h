#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "graph.h"
#include "num/conv.h"
#include "num/pool.h"

/*
 * A graph made ready for n images: primitives, and the place of everything in
 * one block of memory.  In training, what the gradients need keeps a place of
 * its own, and gradients share a few; else values share as well, and a norm
 * that follows a convolution is merged into it.
 */
struct nn_step {
    struct num_conv *conv;
    struct num_pool *pool;
    struct num_norm norm;
    int skip; /* merged into the step of its convolution */

    /* Places, in bytes from the start of the block. */
    size_t in, add, out;
    size_t dy, dy2, dx, dadd; /* gradients; nn_none where there is none */
    size_t mean, variance;
    size_t places; /* of a pool's largest */
};

struct nn_plan {
    size_t n;
    int train;
    struct nn_step *steps; /* [n_ops of the graph] */
    size_t n_steps;
    size_t images, feature, output; /* places of values */
    size_t scratch, work, dz;
    size_t folded, counts; /* inference: merged weights, means */
    size_t bytes;          /* of the block */
};

/*
 * nn_plan_new() makes one.  NULL when the processor cannot do bfloat16.
 *   direct  no Winograd convolutions
 */
struct nn_plan *nn_plan_new(const struct nn_graph *graph, struct num_dnn *dnn,
                            size_t n, int train, int direct);
void nn_plan_free(struct nn_plan *plan);

#endif
