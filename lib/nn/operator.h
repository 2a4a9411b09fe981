#ifndef NN_OPERATOR_H
#define NN_OPERATOR_H

#include "num/conv.h"

#include "onnx.h"
#include "ops.h"

/*
 * What an operator is to the rest of lib/nn.  A new one is a file op_NAME.c
 * with its struct nn_operator and the function that adds it to a graph, and a
 * row in ops.h; nothing else knows the kinds apart.
 *
 * A plan (plan.h) is a graph made ready for a number of rows.  It has a step
 * for each operator, which prepare() fills in once; a run calls forward() and
 * backward(), or infer(), of each step with a struct nn_call.
 */

/* What an operator tells the plan about its memory (memory.c). */
struct nn_needs {
    size_t scratch; /* bytes while one of its functions runs */
    size_t state;   /* bytes that it writes forward and reads backward */

    /* Backward reads these values again: bit k is input k, NN_READS_OUT its
     * output.  All others may be gone by then. */
    unsigned reads;

    /* Bit k: the output may be written where input k is. */
    unsigned over;

    /* Bit k: the gradient of input k may be written where dy is, or dy2. */
    unsigned over_dy, over_dy2;

    /* backward() takes a second gradient, dy2, and adds it to dy itself. */
    int takes_two;

    /* again() works: the output is a function of the inputs and the state. */
    int again;

    /* It can be left to the operator that alone reads its output; and it can
     * do that for the one before. */
    int leaves, takes;

    /* Bytes for sums of images, which stay from a neighbour's function to its
     * own; whether a neighbour can make these; and whether the passes write one
     * image after the other, in which a neighbour's can be made. */
    size_t sums;
    int sums_by_image, by_image, back_by_image;
};

enum { NN_READS_OUT = 1 << NN_INPUTS };

/*
 * A step of a plan.  Its `op` is the graph's; or, where the operator does the
 * work of the next one as well (follower), that with the inputs of both and
 * the output of the follower, whose own step is skipped.
 */
struct nn_step {
    struct nn_op op;
    const struct nn_op *follower; /* or NULL */
    int skip;

    /* In training, an operator may leave its work to the one that reads its
     * output: then that has the place of its input, and nothing is written. */
    int left;
    const struct nn_step *leader; /* the one that left it to this; or NULL */

    /* In training, its sums of images are made by the step before, forward,
     * and by the one behind, on the way back. */
    int summed, back_summed;

    void *made; /* by prepare(), for the operator's other functions */
    struct nn_needs needs;

    /* Places, in bytes from the start of the block; nn_none where there is
     * none. */
    size_t in[NN_INPUTS], out, scratch, state;
    size_t dy, dy2, dx[NN_INPUTS], back_scratch;
    size_t again[NN_INPUTS], again_out; /* of inputs, output made again */
    struct nn_sum {
        size_t to, from;        /* to += from */
    } before, after[NN_INPUTS]; /* its backward: of dy; of the inputs' */
};

struct nn_plan;

/* What a function of an operator works on.  Pointers to what is not there are
 * NULL. */
struct nn_call {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    const struct nn_step *step;
    enum nn_mode mode;
    size_t rows;           /* of all parts of the batch; 0: this is all of it */
    const size_t *offsets; /* [n + 1], where the tokens of a sample begin */

    const void *x[NN_INPUTS];
    void *y;
    void *state, *scratch, *sums;
    const void *leader; /* the state of the step's leader */
    const float *params;
    float *statistics;

    const void *dy, *dy2;
    void *dx[NN_INPUTS]; /* NULL where no gradient is wanted */
    float *grads;
    int add;                      /* to grads, instead of overwriting them */
    const struct nn_call *summed; /* whose sums this makes; or NULL */
};

/* How an operator acts in evaluation on each channel, if it is no more than
 *     y = act(scale x + shift + add). */
struct nn_affine {
    int scaled; /* else scale is 1, shift is 0 */
    int relu;
};

/* A pass of an operator that looks at all rows of a batch which is in parts:
 * begin() writes sums over its part, whose totals end() gets; the scratch stays
 * as it is between. */
struct nn_halves {
    void (*begin)(const struct nn_call *call, double *sums);
    void (*end)(const struct nn_call *call, const double *sums);
};

struct nn_operator {
    const char *name;
    int pools;  /* it reads a row for each token, writes one for each sample */
    int splits; /* it writes graph->each tokens for each sample */

    /* Writes the initial values of its tensors; NULL without tensors. */
    void (*init)(const struct nn_graph *graph, const struct nn_op *op,
                 uint64_t seed, float *params, float *statistics);

    /* Fills in `made` and `needs`; returns -1 where this processor cannot do
     * it.  release() frees `made`; NULL stands for free(). */
    int (*prepare)(const struct nn_graph *graph, const struct nn_plan *plan,
                   struct nn_step *step);
    void (*release)(struct nn_step *step);

    void (*forward)(const struct nn_call *call);
    void (*backward)(const struct nn_call *call);

    /* Of a batch in parts: how many numbers begin() writes, where the parts of
     * this call are put together; 0 or NULL: forward() and backward() of each
     * part are all. */
    size_t (*shared)(const struct nn_call *call);
    struct nn_halves forward_halves, backward_halves;

    /* In evaluation, without state; NULL: forward() does it. */
    void (*infer)(const struct nn_call *call);

    /* Writes the output to y once more, behind a forward; or NULL. */
    void (*again)(const struct nn_call *call);

    /* Behind a forward: writes statistics of its rows to where the running ones
     * are in the block of the call; NULL: it has none. */
    void (*measure)(const struct nn_call *call);

    /*
     * In evaluation, an operator with `merges` does the work of the next one
     * as well where that has affine(), which returns 1 and describes it if it
     * is of that form.  Input 1 of the next, if any, is `add`; it is input
     * n_in - 1 of the merged step and in the place of its output.  fold()
     * writes scale and shift, [c].
     */
    int merges;
    int (*affine)(const struct nn_op *op, struct nn_affine *form);
    void (*fold)(const struct nn_call *call, const struct nn_op *op,
                 float *scale, float *shift);

    /* What makes its sums of an image that a neighbour has written: its input
     * forward, or with `back` the gradient of its output. */
    struct num_conv_task (*sums)(const struct nn_call *call, int back);

    /* In the call of the operator to which it is left: what that has to do. */
    struct num_conv_norm (*leave)(const struct nn_call *call);

    /* Writes what it does in evaluation as nodes of ONNX (lib/nn/onnx.h); -1,
     * or NULL: there is no form for it. */
    int (*onnx)(struct nn_onnx *onnx, const struct nn_op *op);

    /* A line on what was chosen for this processor, for nn_net_algorithms(), as
     * text to be given to free(); or NULL. */
    char *(*describe)(const struct nn_graph *graph, const struct nn_step *step);
};

/* nn_map() describes a value of a plan, with its number of rows. */
struct num_map nn_map(const struct nn_graph *graph, const struct nn_plan *plan,
                      size_t value);

/* The same of a call: input k, and the output. */
struct num_map nn_map_in(const struct nn_call *call, size_t k);
struct num_map nn_map_out(const struct nn_call *call);

/* nn_tensor() describes an operator's i-th tensor; nn_param() returns its
 * numbers, of whichever block, nn_grad() the gradients of a parameter.
 * nn_param_of() is nn_param() of another operator. */
const struct nn_tensor *nn_tensor(const struct nn_call *call, size_t i);
float *nn_param(const struct nn_call *call, size_t i);
float *nn_param_of(const struct nn_call *call, const struct nn_op *op,
                   size_t i);
float *nn_grad(const struct nn_call *call, size_t i);

#endif
