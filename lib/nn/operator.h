#pragma once

#include "num/conv.h"

#include "graph.h"
#include "onnx.h"

/*
 * The interface of operators: the struct nn_operator of op_NAME.c, a row in
 * graph.h.  No other code depends on the kind of an operator.  lib/README.md 5
 * says how to add one.
 *
 * A plan is a graph prepared for a number of rows.  It has a step for
 * each operator, which prepare() fills in once; a run calls forward() and
 * backward(), or infer(), of each step with a struct nn_call.
 */

/* What an operator needs of the plan (memory.c). */
struct nn_needs {
    size_t scratch; /* bytes during one of its functions */
    size_t state;   /* bytes that forward writes and backward reads */

    /* The values that backward reads: bit k is input k, NN_READS_OUT its
     * output.  Others may be overwritten before. */
    unsigned reads;

    /* Bit k: the output may be written in place of input k. */
    unsigned over;

    /* Bit k: the gradient of input k may be written in place of dy, or dy2. */
    unsigned over_dy, over_dy2;

    /* backward() takes a second gradient, dy2, and adds it to dy itself. */
    int takes_two;

    /* recompute() works: the output is a function of the inputs and the state.
     */
    int recompute;

    /* It can be fused into the only operator that reads its output; and the
     * operator before can be fused into it. */
    int fusable, fuses;

    /* Bytes for sums of images, live from a neighbour's function to its own;
     * 1: a neighbour can compute its sums; 1: its passes write one image after
     * the other, so that it can compute a neighbour's. */
    size_t sums;
    int sums_by_image, by_image, back_by_image;
};

enum { NN_READS_OUT = 1 << NN_INPUTS };

/* A step of a plan.  Its `op` is the graph's.  If the operator also does the
 * work of the next one (follower), `op` has the inputs of both and the output
 * of the follower, and the follower's step is skipped. */
struct nn_step {
    struct nn_op op;
    const struct nn_op *follower; /* or NULL */
    int skip;

    /* In training, an operator may be fused into the one that reads its output:
     * its output then has the place of its input, and it writes nothing. */
    int fused;
    const struct nn_step
        *fused_input; /* the step fused into this one; or NULL */

    /* In training, 1: the step before computes its sums of images in forward,
     * the step after in backward. */
    int sums_by_previous, back_sums_by_next;

    void *made; /* by prepare(), for the operator's other functions */
    struct nn_needs needs;

    /* Places, in bytes from the start of the block, or nn_none. */
    size_t in[NN_INPUTS], out, scratch, state;
    size_t dy, dy2, dx[NN_INPUTS], back_scratch;
    size_t recomputed[NN_INPUTS],
        recomputed_out; /* of recomputed inputs, output */
    struct nn_sum {
        size_t to, from;        /* to += from */
    } before, after[NN_INPUTS]; /* backward: for dy; for inputs' gradients */
};

/* A value that is recomputed before the backward pass of step `before`: offsets
 * of the inputs of the operator that computes it, and of the value. */
struct nn_recompute {
    size_t before, value, in[NN_INPUTS], out;
};

/* A graph prepared for n samples: its operators' steps, and the offset of each
 * buffer in one block of memory (lib/nn/memory.c). */
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

/* The arguments of an operator's functions.  Pointers that do not apply are
 * NULL. */
struct nn_call {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    const struct nn_step *step;
    enum nn_mode mode;
    size_t rows;           /* of all parts of the batch; 0: only one part */
    const size_t *offsets; /* [n + 1] of the tokens of each sample */

    const void *x[NN_INPUTS];
    void *y;
    void *state, *scratch, *sums;
    const void *fused_input; /* the state of the step's fused_input */
    const float *params;
    float *statistics;

    const void *dy, *dy2;
    void *dx[NN_INPUTS]; /* NULL: no gradient */
    float *grads;
    int add;                        /* 1: add to grads, else overwrite them */
    const struct nn_call *sums_for; /* compute the sums of this one; or NULL */
};

/* An operator that in evaluation is only y = act(scale x + shift + add), for
 * each channel. */
struct nn_affine {
    int scaled; /* 0: scale is 1, shift is 0 */
    int relu;
};

/* A pass of an operator that reads all rows of a batch in parts: begin() writes
 * sums over its part, end() gets the totals; scratch is preserved in between.
 */
struct nn_halves {
    void (*begin)(const struct nn_call *call, double *sums);
    void (*end)(const struct nn_call *call, const double *sums);
};

struct nn_operator {
    const char *name;
    int pools;  /* it reads a row for each token, writes one for each sample */
    int splits; /* it writes graph->each tokens for each sample */

    /* Fills in `made` and `needs`; returns -1 if this processor cannot run it.
     * NULL: it makes nothing, and its needs are always the same.  release()
     * frees `made`; NULL: free() does. */
    struct nn_needs needs;
    int (*prepare)(const struct nn_graph *graph, const struct nn_plan *plan,
                   struct nn_step *step);
    void (*release)(struct nn_step *step);

    void (*forward)(const struct nn_call *call);
    void (*backward)(const struct nn_call *call);

    /* For a batch in parts: the count of numbers that begin() writes; 0 or
     * NULL: forward() and backward() of each part suffice. */
    size_t (*shared)(const struct nn_call *call);
    struct nn_halves forward_halves, backward_halves;

    /* In evaluation, without state; NULL: forward() does it. */
    void (*infer)(const struct nn_call *call);

    /* Recomputes the output y after a forward; or NULL. */
    void (*recompute)(const struct nn_call *call);

    /* After a forward: writes the statistics of its rows in place of the
     * running ones, to the call's block; NULL: it has none. */
    void (*measure)(const struct nn_call *call);

    /*
     * In evaluation, an operator with `merges` also does the work of the next
     * one if that one's affine() returns 1; affine() describes it.  Input 1 of
     * the next, if any, is `add`; it is input n_in - 1 of the merged step and
     * in the place of its output.  fold() writes scale and shift, [c].
     */
    int merges;
    int (*affine)(const struct nn_op *op, struct nn_affine *form);
    void (*fold)(const struct nn_call *call, const struct nn_op *op,
                 float *scale, float *shift);

    /* Returns the task that computes its sums of an image after a neighbour has
     * written it: its input, or with `back` the gradient of its output. */
    struct num_conv_task (*sums)(const struct nn_call *call, int back);

    /* Returns the work that it leaves to the operator into which it is fused;
     * the call is that operator's. */
    struct num_conv_norm (*fused_norm)(const struct nn_call *call);

    /* Writes the operator in evaluation as ONNX nodes (lib/nn/onnx.h); -1, or
     * NULL: it cannot be exported. */
    int (*onnx)(struct nn_onnx *onnx, const struct nn_op *op);

    /* Returns a line about the algorithms for this processor, for
     * nn_net_algorithms(), which the caller frees; or NULL. */
    char *(*describe)(const struct nn_graph *graph, const struct nn_step *step);
};

/* nn_map() returns the map of a value of a plan, with its number of rows. */
struct num_map nn_map(const struct nn_graph *graph, const struct nn_plan *plan,
                      size_t value);

/* The same for input k and for the output of a call. */
struct num_map nn_map_in(const struct nn_call *call, size_t k);
struct num_map nn_map_out(const struct nn_call *call);

/* nn_tensor() returns an operator's i-th tensor; nn_param() its numbers in
 * params or statistics, nn_grad() its gradient.  nn_param_of() is nn_param() of
 * another operator. */
const struct nn_tensor *nn_tensor(const struct nn_call *call, size_t i);
float *nn_param(const struct nn_call *call, size_t i);
float *nn_param_of(const struct nn_call *call, const struct nn_op *op,
                   size_t i);
float *nn_grad(const struct nn_call *call, size_t i);
