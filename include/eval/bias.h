#ifndef EVAL_BIAS_H
#define EVAL_BIAS_H

#include <stddef.h>

/* An estimate, and half of its 95 % confidence interval. */
struct eval_figure {
    double value, half;
};

/* eval_student() returns the t with P(|T| < t) = 0.95 for Student's
 * distribution with so many degrees of freedom, >= 1; within 1 % from 3 degrees
 * on. */
double eval_student(size_t degrees);

/* eval_mean() returns the mean of independent x [n], n >= 2, with its
 * confidence interval by Student's t. */
struct eval_figure eval_mean(size_t n, const double *x);

/*
 * The difference of the expected gradient of a method from the exact one, from
 * independent estimates G_1 .. G_R: each is the mean of the gradients of all
 * steps of an epoch, of a separate trainer.  With the exact gradient g and |.|
 * the length,
 *
 *     A = mean over r != s of <G_r, G_s>     estimates |E G|^2 without bias,
 *     C = mean over r of <G_r, g>,
 *
 *     bias     = (A - 2 C + |g|^2) / |g|^2   may be negative by chance
 *     cosine   = C / (sqrt A |g|)            0 if A <= 0
 *     scale    = C / |g|^2                   relative length of E G along g
 *     variance = (mean |G'|^2 - A) / |g|^2   of the gradient G' of one step
 *
 * Each has half of its 95 % confidence interval, by the jackknife over the R
 * estimates and Student's t.
 */
struct eval_bias {
    struct eval_figure bias, cosine, scale, variance;
    double square; /* |g|^2 */
};

enum { EVAL_BIAS_LEAST = 3, EVAL_BIAS_MOST = 256 }; /* R */

/*
 * eval_bias() compares R estimates of `size` numbers with the exact gradient.
 *   r         R
 *   estimate  [R,size]
 *   step      [R]  mean |G'|^2 over the steps of each epoch
 *   exact     [size], not zero
 * O(R^2 size) time, O(R^2) memory.
 */
struct eval_bias eval_bias(size_t r, size_t size, const float *estimate,
                           const double *step, const float *exact);

#endif
