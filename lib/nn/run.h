#ifndef NN_RUN_H
#define NN_RUN_H

#include "plan.h"

/* What a run works on: a graph, a plan of it, and the memory of both. */
struct nn_run {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    char *block; /* [plan->bytes] */
    const float *params;
    float *statistics; /* that are used; for nn_run_measure() written */
    float *grads;      /* of nn_run_backward() */
    int add;           /* it adds to grads */
    enum nn_mode mode;
};

/* nn_run_input() brings a batch to value 0; of images, x = (u / 255 - mean) /
 * deviation. */
void nn_run_input(const struct nn_run *run, const struct nn_input *input,
                  const float *mean, const float *deviation);

/* Each needs the values before it in place: the input, then all of a forward,
 * then the gradient at plan->dz. */
void nn_run_forward(const struct nn_run *run);
void nn_run_backward(const struct nn_run *run);

/* Behind a forward: statistics of the rows that went through. */
void nn_run_measure(const struct nn_run *run);

/* The first n_ops operators, in evaluation mode. */
void nn_run_infer(const struct nn_run *run, size_t n_ops);

#endif
