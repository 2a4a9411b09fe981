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
    size_t rows; /* of all parts, where there are several; else 0 */
};

/* A batch in parts, a run each, that go from operator to operator together. */
struct nn_runs {
    size_t n;
    const struct nn_run *run;     /* [n], of one graph and mode */
    const struct nn_parts *parts; /* NULL: n is 1, and that is all */
    size_t *again;                /* [n], of nn_run_backward() */
    double *sums;                 /* [nn_run_shared() n] */
    const size_t *final; /* [n_ops], of nn_run_final(): for went(); or NULL */
    void (*went)(void *self, size_t from);
    void *self;
};

/* nn_run_input() brings a batch to value 0; of images, x = (u / 255 - mean) /
 * deviation. */
void nn_run_input(const struct nn_run *run, const struct nn_input *input,
                  const float *mean, const float *deviation);

/* nn_run_shared() returns the most numbers that parts have in common at an
 * operator. */
size_t nn_run_shared(const struct nn_run *run);

/* nn_run_final() finds from where on, [n_ops], the gradients of the parameters
 * are complete behind the backward of each operator. */
void nn_run_final(const struct nn_graph *graph, size_t *final);

/* Each needs the values before it in place: the input, then all of a forward,
 * then the gradient at plan->dz.  Gradients of parts are added up in those of
 * the first run. */
void nn_run_forward(const struct nn_runs *runs);
void nn_run_backward(const struct nn_runs *runs);

/* Behind a forward: statistics of the rows that went through. */
void nn_run_measure(const struct nn_run *run);

/* The first n_ops operators, in evaluation mode. */
void nn_run_infer(const struct nn_run *run, size_t n_ops);

#endif
