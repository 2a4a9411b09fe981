#ifndef EVAL_LOGISTIC_H
#define EVAL_LOGISTIC_H

#include <stddef.h>
#include <stdint.h>

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
 *   most            the most iterations
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

#endif
