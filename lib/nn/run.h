#ifndef NN_RUN_H
#define NN_RUN_H

#include "plan.h"

/* What a run works on: a graph, a plan of it, and the memory of both. */
struct nn_run {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    char *block; /* [plan->bytes] */
    const float *params;
    float *statistics;
    float *grads; /* of nn_run_backward() */
    int add;      /* it adds to grads */
    enum nn_mode mode;
    const size_t *keys; /* [plan->n]: rows of a table */
};

/* Each needs the values before it in place: the input, then all of a forward,
 * then the gradient at plan->dz. */
void nn_run_forward(const struct nn_run *run);
void nn_run_backward(const struct nn_run *run);

/* The first n_ops operators, in evaluation mode. */
void nn_run_infer(const struct nn_run *run, size_t n_ops);

#endif
