#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* Rows with labels. */
struct eval_rows {
    size_t n, d;
    const float *x;   /* [n,d] */
    const int64_t *y; /* [n] 0 <= y < classes */
};

/* A linear classifier: its label for x is the index of the largest of w x +
 * b. */
struct eval_linear {
    size_t d, classes;
    float *w; /* [classes,d] */
    float *b; /* [classes], directly after w */
};

/* eval_linear_init() makes a classifier with zero weights; release it with
 * eval_linear_release(). */
void eval_linear_init(struct eval_linear *linear, size_t d, size_t classes);
void eval_linear_release(struct eval_linear *linear);

/*
 * eval_logistic_sum() returns the multinomial logistic loss of some rows:
 *
 *     p_ic = softmax_c (<w_c, x_i> + b_c)
 *     L    = - sum_i log p_(i, y_i)                              [nats]
 *
 *   grad  [classes,d] followed by [classes], dL/dw and dL/db, overwritten; may
 *         be NULL
 *   work  [n,classes]  scratch
 *
 * Logits and grad are f32, the sum of L over rows is double: pass some thousand
 * rows at a time.  O(n d classes) time.
 */
double eval_logistic_sum(const struct eval_linear *linear,
                         const struct eval_rows *rows, float *grad,
                         float *work);

/*
 * eval_logistic_accuracy() returns the share of correctly classified rows.
 *   count  [classes,classes] a confusion matrix, to which it adds the rows: a
 *          row for each true label, a column for each predicted one; or NULL
 */
double eval_logistic_accuracy(const struct eval_linear *linear,
                              const struct eval_rows *rows, size_t *count);

/* A function to minimise: returns f(w) and writes its gradient, w, g [n]. */
typedef double eval_function(void *self, const double *w, double *g);

/*
 * eval_lbfgs() minimises a smooth function with the limited-memory BFGS method
 * (Nocedal and Wright 2006, algorithm 7.5, ten pairs) and a bisection for the
 * weak Wolfe conditions (Lewis and Overton 2013, algorithm 2.6).
 *   w          [n]  the starting point; on return the best point seen
 *   most            the maximum number of iterations
 *   tolerance       stop when no |df/dw_i| is larger
 *   loss            f at the result; may be NULL
 * It also stops after a step that gains less than 1e-10 max(1, |f|).  Returns
 * the number of iterations.  Deterministic. 24 n doubles of memory.
 */
size_t eval_lbfgs(size_t n, eval_function *f, void *self, size_t most,
                  double tolerance, double *w, double *loss);

/* A callback after each pass over the training rows, to show progress. */
struct eval_watch {
    void (*pass)(void *self);
    void *self;
};

/*
 * eval_logistic_fit() minimises, starting from the weights in `linear`,
 *
 *     L / n + l2 / 2 |w|^2                                  b is not penalised
 *
 * by eval_lbfgs(), sums over rows in double; at most `most` iterations, until
 * no partial derivative is above `tolerance`. scikit-learn's C is 1 / (n l2).
 *   watch  may be NULL
 *   loss   out: the loss with penalty
 * Returns the number of iterations.
 */
size_t eval_logistic_fit(struct eval_linear *linear,
                         const struct eval_rows *rows, double l2, size_t most,
                         double tolerance, const struct eval_watch *watch,
                         double *loss);

/* Linear probes: the accuracy of a linear classifier on frozen features,
 * trained on one set of rows and tested on another. */
struct eval_probe {
    double accuracy;   /* on the test rows: the result of the probe */
    double train;      /* accuracy on the train rows */
    double loss;       /* mean on the train rows, with penalty [nats] */
    double l2;         /* the penalty used */
    double held_out;   /* accuracy on the validation split; 0: no split */
    size_t iterations; /* of the last fit, or epochs of SGD */
    size_t epoch;      /* SGD: epoch of the accuracy, from 1 */
};

/* The penalties to try, strongest first. */
enum { EVAL_PROBE_GRID = 7 };
extern const double eval_probe_grid[EVAL_PROBE_GRID];

struct eval_probe_spec {
    size_t classes;
    double l2;         /* fixed; 0: chosen from the grid */
    double share;      /* of the train rows for validation, (0, 1) */
    uint64_t seed;     /* of that split */
    size_t iterations; /* maximum of a fit */
    double tolerance;  /* see eval_logistic_fit() */
    size_t *count; /* [classes,classes] confusion matrix of the test rows, as
                      eval_logistic_accuracy(); or NULL */
    const struct eval_watch *watch; /* or NULL */
};

/*
 * eval_probe_logistic() is a probe in which only the split is random:
 *
 *     x <- (x - mean) / deviation      per feature, of the train rows; a
 *                                      feature that is constant becomes 0
 *     w, b = argmin L / n + l2 / 2 |w|^2
 *
 * The penalty is the one with the highest accuracy on the validation rows,
 * after a fit on the other train rows.  Penalties are tried from strong to
 * weak, and each fit starts from the previous one.  A penalty is better if its
 * accuracy is higher by 0.001; the search ends after two in a row that are not
 * better.  The last fit, on all train rows, starts from the best one.
 *   train  at least 2 rows, of the width of test; test at least 1
 * Makes a copy of both sets.  O(n d classes) time an iteration.
 */
void eval_probe_logistic(const struct eval_probe_spec *spec,
                         const struct eval_rows *train,
                         const struct eval_rows *test,
                         struct eval_probe *probe);

/* A probe by stochastic gradient descent, as in papers, on unscaled features:
 * momentum 0.9, no weight decay, the mean loss of each batch, a short last
 * batch. */
struct eval_sgd {
    const char *name;
    double rate;
    size_t batch, epochs;
    int shuffle; /* 0: rows in their order, in every epoch */
    int best;    /* 1: report the best epoch on the test rows, as the papers do
                    (biased upwards), not the last one */
    enum { EVAL_RATE_CONSTANT, EVAL_RATE_FIFTHS, EVAL_RATE_COSINE } schedule;
    double spread; /* initial weights N(0, spread^2), b = 0; 0: w and b are
                      U(+-1/sqrt(d)), as torch.nn.Linear's */
    int nesterov;  /* 0: w -= rate v; 1: w -= rate (g + 0.9 v), for
                      v = 0.9 v + g */
};

/* The probes emc2, isogclr, isogclr-paper and sogclr. */
extern const struct eval_sgd eval_sgd_protocols[4];

/*
 * eval_probe_sgd() runs such a probe.  With EVAL_RATE_FIFTHS the rate falls to
 * a fifth after 0.4, 0.6 and 0.8 of the epochs; with EVAL_RATE_COSINE it is
 * multiplied by (1 + cos(pi e / epochs)) / 2 in epoch e = 0, 1, ... It reads
 * classes, seed, count and watch of spec.  Returns 0, or -1 if the weights are
 * no longer finite.
 */
int eval_probe_sgd(const struct eval_sgd *sgd,
                   const struct eval_probe_spec *spec,
                   const struct eval_rows *train, const struct eval_rows *test,
                   struct eval_probe *probe, struct err *err);
