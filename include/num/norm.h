#pragma once

#include "num/map.h"

/*
 * Normalisation in a residual network, with the residual and the activation:
 *
 *     y = act( gamma_k (x - m) / sqrt(v + 1e-5) + beta_k + add )
 *
 * per channel k, with m and v the mean and (biased) variance over
 *
 *     NUM_NORM_BATCH   all images and pixels of channel k
 *                      (Ioffe and Szegedy 2015, arXiv:1502.03167)
 *     NUM_NORM_GROUP   the pixels of one image in k's group of c / groups
 *                      channels (Wu and He 2018, arXiv:1803.08494)
 *     NUM_NORM_NONE    nothing: y = act(x + add)
 *     NUM_NORM_FIXED   nothing: the caller sets m and v, as for batch norm in
 *                      evaluation, and they have no gradient
 *
 * add is another map, or none; act is max(., 0), which preserves NaN, or none.
 * Sums are f32 within one plane of an image and double beyond; results do not
 * depend on the number of threads.  Against the equation in double the largest
 * error over the rms of the result is below 2e-5, plus the rounding of bfloat16
 * (tests/num/test_norm.c).  O(size) time, two passes over x.
 */
enum num_norm_kind {
    NUM_NORM_BATCH,
    NUM_NORM_GROUP,
    NUM_NORM_NONE,
    NUM_NORM_FIXED
};

/* Each function takes one struct; its comment lists the members it uses. */
struct num_norm {
    enum num_norm_kind kind;
    struct num_map map; /* of x, add, y and all their gradients */
    size_t rows;        /* BATCH: images of all parts, see num_norm_sums(); 0:
                           the map is the only part */
    size_t groups;      /* GROUP only; divides c */
    int relu;

    const void *x;
    const void *add;           /* or NULL; not y */
    void *y;                   /* may be x; backward: or NULL */
    const float *gamma, *beta; /* [c] */
    float *mean, *variance;    /* [num_norm_counts()] */

    const void *dy, *dy2;  /* dL/dy is their sum; dy2 may be NULL */
    void *dx;              /* may be dy if dadd is NULL */
    void *dadd;            /* or NULL; may be dy or dy2, not dx */
    float *dgamma, *dbeta; /* [c] */
    int accumulate;        /* 1: adds to dgamma and dbeta; 0: overwrites them */

    double *work; /* [num_norm_work()] */

    /* for num_norm_measure() and num_norm_back_measure() */
    int measured;       /* 1: work has the sums of each image */
    const float *scale; /* [c], of num_norm_scales(); NULL: recomputed */
};

/* num_norm_counts() returns the number of means (and variances): c, or n x
 * groups, or 0 for NONE. */
size_t num_norm_counts(const struct num_norm *norm);

/* num_norm_work() returns the doubles of scratch for all functions. */
size_t num_norm_work(const struct num_norm *norm);

/* num_norm_forward() writes mean, variance and y, from x, add, gamma and beta;
 * with FIXED it reads mean and variance.  With BATCH or FIXED y may be NULL. */
void num_norm_forward(const struct num_norm *norm);

/*
 * num_norm_scales() writes the factor of x - m, from gamma and variance, with
 * BATCH or FIXED.
 *   scale  [c]
 */
void num_norm_scales(const struct num_norm *norm, float *scale);

/* num_norm_apply() writes y from x, add, gamma, beta, mean and variance, like
 * batch norm in evaluation; it needs no scratch. */
void num_norm_apply(const struct num_norm *norm);

/*
 * num_norm_backward() writes dx, dgamma, dbeta and, unless NULL, dadd: the
 * gradients of dy + dy2, also through m and v, from x, gamma, beta, mean and
 * variance of num_norm_forward().  y is for relu: a clipped element has no
 * gradient.  If y is NULL it is recomputed from x, which is faster, but
 * requires that there is no `add` and kind is not NONE.
 */
void num_norm_backward(const struct num_norm *norm);

/*
 * Batch norm of a batch in several parts, each a map, with `rows` images in
 * total: call the first half for each part, add the sums of all parts, then
 * call the second half for each part with the totals.
 *
 *     num_norm_sums()         sum x; sum x^2
 *     num_norm_finish()       mean and variance from these; num_norm_apply()
 *                             then writes y
 *     num_norm_back_sums()    gamma sum f; gamma sum f (x - m), with f the
 *                             gradient before act; and dgamma, dbeta and dadd
 *                             of a part
 *     num_norm_back_finish()  dx from these
 *
 * Both calls of a pass take the same struct, and work, dy, dadd and y must not
 * change in between.  Sums of squares in double lose digits only if a mean is
 * 1e4 standard deviations or more; then x has already lost more by f32.
 *   sums  [2 c]  the first sum of each channel, then the second
 */
void num_norm_sums(const struct num_norm *norm, double *sums);
void num_norm_finish(const struct num_norm *norm, const double *sums);
void num_norm_back_sums(const struct num_norm *norm, double *sums);
void num_norm_back_finish(const struct num_norm *norm, const double *sums);

/*
 * Sums image by image, right after an image is written (num/conv.h), BATCH
 * only:
 *
 *     num_norm_measure()       image i of x, before num_norm_forward() or
 *                              num_norm_sums()
 *     num_norm_back_measure()  image i of dy, dy2, x and y, to dadd, before
 *                              num_norm_backward() or num_norm_back_sums()
 *
 * After all images are measured, these functions with `measured` = 1 give the
 * same bits as without.  Threads may measure different images at the same time.
 */
void num_norm_measure(const struct num_norm *norm, size_t i);
void num_norm_back_measure(const struct num_norm *norm, size_t i);
