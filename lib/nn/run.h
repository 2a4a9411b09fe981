#pragma once

#include "operator.h"

/* A run: a graph, a plan of it, and the memory of both. */
struct nn_run {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    char *block; /* [plan->bytes] */
    const float *params;
    float *statistics; /* read; nn_run_measure() writes them */
    float *grads;      /* of nn_run_backward() */
    int add;           /* 1: it adds to grads */
    enum nn_mode mode;
    size_t rows; /* of all parts, if there are several; else 0 */
};

/* A batch in parts, a run for each, that go through the operators together. */
struct nn_runs {
    size_t n;
    const struct nn_run *run;     /* [n], of one graph and mode */
    const struct nn_parts *parts; /* NULL: a batch without parts, n is 1 */
    size_t *recomputed;           /* [n] scratch of nn_run_backward() */
    double *sums;                 /* [nn_run_shared() n] */
    const size_t *final; /* [n_ops], of nn_run_final(), for done(); or NULL */
    void (*done)(void *self, size_t from);
    void *self;
};

/* nn_run_input() writes a batch to value 0; images as x = (u / 255 - mean) /
 * deviation. */
void nn_run_input(const struct nn_run *run, const struct nn_input *input,
                  const float *mean, const float *deviation);

/* nn_run_shared() returns the largest count of sums that an operator shares
 * among parts. */
size_t nn_run_shared(const struct nn_run *run);

/* nn_run_final() writes to final [n_ops] the index from which the gradients are
 * complete after the backward of each operator. */
void nn_run_final(const struct nn_graph *graph, size_t *final);

/* nn_run_forward() needs the input; nn_run_backward() needs a forward pass and
 * the gradient at plan->dz, and adds the gradients of all parts to those of the
 * first run. */
void nn_run_forward(const struct nn_runs *runs);
void nn_run_backward(const struct nn_runs *runs);

/* nn_run_measure() writes the statistics of the rows of a forward pass. */
void nn_run_measure(const struct nn_run *run);

/* nn_run_infer() runs the first n_ops operators in evaluation mode. */
void nn_run_infer(const struct nn_run *run, size_t n_ops);
