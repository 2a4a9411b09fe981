#ifndef NN_PLAN_H
#define NN_PLAN_H

#include "num/conv.h"
#include "num/pool.h"

#include "graph.h"

/*
 * A graph made ready for n images: primitives, and the place of everything in
 * one block of memory (lib/nn/place.c).  Without train, a norm that follows a
 * convolution is merged into it, where its statistics are constants.
 */
struct nn_step {
    struct num_conv *conv;
    struct num_pool *pool;
    struct num_norm norm;
    size_t need; /* bytes of scratch */
    int skip;    /* merged into the step of its convolution */

    /* Places, in bytes from the start of the block; nn_none where there is
     * none. */
    size_t in, add, out, scratch;
    size_t dy, dy2, dx, dadd, back_scratch; /* backward */
    size_t remade;         /* backward: where `in` is made again */
    size_t mean, variance; /* of a norm */
    size_t largest;        /* of a pool */
};

struct nn_plan {
    size_t n;
    int train;
    struct nn_step *steps; /* [n_ops of the graph] */
    size_t n_steps;
    size_t images, feature, output, dz; /* places */
    size_t folded, counts;              /* inference: merged weights, means */
    size_t bytes;                       /* of the block */
};

/*
 * nn_plan_new() makes one.  NULL when the processor cannot do bfloat16.
 *   direct  no Winograd convolutions
 */
struct nn_plan *nn_plan_new(const struct nn_graph *graph, struct num_dnn *dnn,
                            size_t n, int train, int direct);
void nn_plan_free(struct nn_plan *plan);

/* nn_plan_map() describes a value with the plan's number of images. */
struct num_map nn_plan_map(const struct nn_graph *graph,
                           const struct nn_plan *plan, size_t value);

/* nn_plan_place() finds places for everything, when all steps are made. */
void nn_plan_place(struct nn_plan *plan, const struct nn_graph *graph);

#endif
