#ifndef EVAL_BIAS_H
#define EVAL_BIAS_H

#include <stddef.h>

/* A number that was estimated, and half of its interval of confidence, 95 %. */
struct eval_figure {
    double value, half;
};

/* eval_student() returns the bound that |t| stays below with probability 0.95,
 * of Student's distribution with so many degrees of freedom, >= 1: within 1 %
 * from 3 on. */
double eval_student(size_t degrees);

/* eval_mean() returns the mean of independent x [n], n >= 2, with its
 * interval by Student's t. */
struct eval_figure eval_mean(size_t n, const double *x);

/*
 * How far the expected gradient of a method is from the exact one, from
 * independent estimates G_1 .. G_R of it: each the mean of the gradients of all
 * steps of an epoch, in a trainer of its own.  With the exact gradient g and
 * |.| the length,
 *
 *     A = mean over r != s of <G_r, G_s>     is |E G|^2 without bias,
 *     C = mean over r of <G_r, g>,
 *
 *     bias     = (A - 2 C + |g|^2) / |g|^2   may come out below 0 by chance
 *     cosine   = C / (sqrt A |g|)            0 where A <= 0
 *     scale    = C / |g|^2                   how long E G is along g
 *     variance = (mean |G'|^2 - A) / |g|^2   of the gradient G' of one step
 *
 * Each comes with half of its interval of confidence, 95 %, by the jackknife
 * over the R estimates and Student's t.
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
