#pragma once

#include <stddef.h>

/* An estimate, and half of its 95 % confidence interval. */
struct eval_figure {
    double value, half;
};

/* eval_student() returns the t with P(|T| < t) = 0.95 for Student's
 * distribution with so many degrees of freedom, >= 1; within 1 %. */
double eval_student(size_t degrees);

/* eval_mean() returns the mean of independent x [n], n >= 2, with its
 * confidence interval by Student's t. */
struct eval_figure eval_mean(size_t n, const double *x);

/*
 * The difference of the expected gradient of a method from the exact one, from
 * independent estimates G_1 .. G_R: each is the mean of the gradients G' of all
 * steps of an epoch, of a separate trainer.  S' is the exact gradient of the
 * images of a step's batch alone, times n / b for n images in batches of b: its
 * mean is the exact gradient g.  With |.| the length,
 *
 *     A = mean over r != s of <G_r, G_s>     estimates |E G|^2 without bias,
 *     C = mean over r of <G_r, g>,
 *
 *     direction  = 1 - C^2 / (A |g|^2)       1 - cosine^2: the error that no
 *                                            learning rate corrects
 *     cosine     = C / (sqrt A |g|)
 *     scale      = C / |g|^2                 relative length of E G along g
 *     bias       = (A - 2 C + |g|^2) / |g|^2 of both, direction and length
 *     variance   = (mean |G'|^2 - A) / |g|^2 of the gradient of one step
 *     images     = A (mean |S'|^2 - |g|^2) / |g|^4
 *                                            the part of the variance that the
 *                                            choice of images makes
 *     negatives  = variance - images         the rest
 *     noise      = b (mean |G'|^2 - A) / A   batch size in images at which the
 *                                            noise of a step is as long as E G
 *
 * The last is the simple noise scale of McCandlish et al. 2018
 * (arXiv:1812.06162).  Where A <= 0, cosine and noise are 0 and direction is 1.
 * Direction and bias may be negative by chance.  Each figure has half of its
 * 95 % confidence interval, by the jackknife over the R estimates and Student's
 * t.
 */
enum eval_bias_figure {
    BIAS_DIRECTION,
    BIAS_COSINE,
    BIAS_SCALE,
    BIAS_SQUARE,
    BIAS_VARIANCE,
    BIAS_IMAGES,
    BIAS_NEGATIVES,
    BIAS_NOISE,
    BIAS_FIGURES
};

struct eval_bias {
    struct eval_figure of[BIAS_FIGURES];
    double square; /* |g|^2 */
};

enum { EVAL_BIAS_LEAST = 3, EVAL_BIAS_MOST = 256 }; /* R */

/* The estimates of a method in one space. */
struct eval_bias_data {
    size_t r, size;        /* R; numbers of a gradient */
    size_t batch;          /* b */
    const float *estimate; /* [R,size] */
    const double *step;    /* [R]  mean |G'|^2 over the steps of each epoch */
    const double *images;  /* [R]  mean |S'|^2 over these */
    const float *exact;    /* [size] g, not zero */
};

/* eval_bias() computes the figures.  O(R^2 size) time, O(R^2) memory. */
struct eval_bias eval_bias(const struct eval_bias_data *data);
