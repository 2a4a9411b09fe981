#pragma once

#include <stddef.h>

#include "nn/net.h"
#include "util/err.h"

/*
 * Optimisers over the block of parameters (lib/algorithms.md 6).  p parameter,
 * g its gradient, lr learning rate, wd weight decay, mu momentum, t the number
 * of the step, from 1.
 *
 * sgd      d = g + wd p;  m = mu m + d;  p -= lr m
 *          with Nesterov: p -= lr (d + mu m)
 * adam     d = g + wd p;  m = b1 m + (1 - b1) d;  v = b2 v + (1 - b2) d d
 *          p -= lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
 * adamw    the same with d = g, after p -= lr wd p in tensors that decay
 * lars-a   in tensors that decay:  d = g + wd p,
 *          m = mu m + q d, q = 0.001 |p| / |d|, 1 if a norm is 0;
 *          in the others d = g, q = 1;  p -= lr m
 * lars-b   d = g + wd p;  m = mu m + d, the first time (1 + mu) d;
 *          p -= lr q m, q = 0.001 |p| / (|g| + wd |p|), 1 if a norm is 0;
 *          in every tensor, also biases: for comparison with published runs
 *
 * muon     in tensors that decay, as matrices [shape[0],others]:  m = mu m + g,
 *          p -= lr (0.2 sqrt(longer side) O(g + mu m) + wd p);  the others as
 *          adamw.  O(X) is near U V' of X = U S V', by five steps of X = 3.4445
 *          X + (-4.775 A + 2.0315 A A) X, A = X X', from X / |X|
 *
 * Tensors of rank > 1 decay, except position embeddings and class tokens
 * (nn_tensor.decays).
 *
 * Kingma and Ba 2015, arXiv:1412.6980; Loshchilov and Hutter 2019,
 * arXiv:1711.05101; You, Gitman and Ginsburg 2017, arXiv:1708.03888;
 * Jordan et al. 2024, kellerjordan.github.io/posts/muon; the factor of Liu et
 * al. 2025, arXiv:2502.16982.
 */
struct nn_optim_spec {
    const char *name; /* sgd adam adamw lars-a lars-b muon */
    double momentum;  /* sgd, lars, muon: mu in 0 .. 1, below 1 */
    int nesterov;     /* sgd */
    double weight_decay;
    long accumulate; /* K > 1: a step for every K gradients, by their mean */
    /* adam, adamw, muon: b1, b2 in 0 .. 1, both ends excluded, and eps > 0; 0
     * selects the default 0.9, 0.999, 1e-8 */
    double beta1, beta2, epsilon;
};

struct nn_optim;

/*
 * nn_optim_new() makes an optimiser for the n tensors of a net and its block of
 * `count` parameters, with zero moments.  It does not copy the table of
 * tensors, which must outlive it.  NULL for an unknown name or an invalid spec.
 */
struct nn_optim *nn_optim_new(const struct nn_optim_spec *spec,
                              const struct nn_tensor *tensors, size_t n,
                              size_t count, struct err *err);
void nn_optim_free(struct nn_optim *optim);

/*
 * nn_optim_step() takes one step.
 *   params, grads  [count]
 * One pass over the block, two for LARS, one more to accumulate; Muon
 * multiplies matrices, 10 r^2 (2 c + r) flops for one of sides r <= c.  The
 * result does not depend on the number of threads, with Muon it does.  Returns
 * 1, or 0 if it only added the gradient to the sum.
 */
int nn_optim_step(struct nn_optim *optim, double lr, float *params,
                  const float *grads);

/* nn_optim_norm() returns |grads| over all parameters; not finite if one of
 * them is not. */
double nn_optim_norm(const struct nn_optim *optim, const float *grads);

/* The state to save: `steps`, the number of steps taken, and blocks [count] of
 * moments, with names.  With accumulate the last block is the sum of the
 * `pending` gradients since the last step. */
enum { NN_MAX_MOMENTS = 3 };

struct nn_moments {
    size_t n;                         /* blocks */
    const char *name[NN_MAX_MOMENTS]; /* "momentum"; "mean", "square"; "sum" */
    float *block[NN_MAX_MOMENTS];
    long *steps, *pending; /* pending: NULL without a sum */
};

/* nn_optim_moments() returns pointers into the optimiser, for reading the state
 * and for restoring it from a checkpoint. */
struct nn_moments nn_optim_moments(struct nn_optim *optim);
