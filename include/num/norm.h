#ifndef NUM_NORM_H
#define NUM_NORM_H

#include "num/map.h"

/*
 * Normalisation, with what stands around it in a residual network:
 *
 *     y = act( gamma_k (x - m) / sqrt(v + 1e-5) + beta_k + add )
 *
 * per channel k, where m and v are mean and (biased) variance over
 *
 *     NUM_NORM_BATCH   all images and pixels of channel k
 *                      (Ioffe and Szegedy 2015, arXiv:1502.03167)
 *     NUM_NORM_GROUP   the pixels of one image in the group of c / groups
 *                      channels that k is in (Wu and He 2018, arXiv:1803.08494)
 *     NUM_NORM_NONE    nothing: y = act(x + add)
 *     NUM_NORM_FIXED   nothing: m and v are given, as batch norm has them in
 *                      evaluation, and no gradient goes through them
 *
 * add is another map or nothing, act is max(., 0), which leaves a NaN a NaN,
 * or nothing.  Sums are f32 within one plane of an image and double beyond;
 * results do not depend on the number of threads.  Against the equation in
 * double the largest error over the rms of the result is below 2e-5, of
 * bfloat16 beside its rounding (tests/num/test_norm.c).  O(size) time, two
 * passes over x.
 */
enum num_norm_kind {
    NUM_NORM_BATCH,
    NUM_NORM_GROUP,
    NUM_NORM_NONE,
    NUM_NORM_FIXED
};

/* Each function takes one struct; its comment names the members it uses. */
struct num_norm {
    enum num_norm_kind kind;
    struct num_map map; /* of x, add, y and all their gradients */
    size_t rows;        /* BATCH: images of all parts, see num_norm_sums(); 0:
                           those of the map */
    size_t groups;      /* GROUP only; divides c */
    int relu;

    const void *x;
    const void *add;           /* or NULL; not y */
    void *y;                   /* may be x; backward: or NULL */
    const float *gamma, *beta; /* [c] */
    float *mean, *variance;    /* [num_norm_counts()] */

    const void *dy, *dy2;  /* dL/dy is their sum; dy2 may be NULL */
    void *dx;              /* may be dy where dadd is NULL */
    void *dadd;            /* or NULL; may be dy or dy2, not dx */
    float *dgamma, *dbeta; /* [c] */
    int accumulate;        /* 1: adds to dgamma and dbeta; 0: overwrites them */

    double *work; /* [num_norm_work()] */

    /* Of num_norm_measure() and its like. */
    int measured;       /* 1: work has the sums of each image */
    const float *scale; /* [c], of num_norm_scales(), or NULL: made again */
};

/* num_norm_counts() returns how many means (and variances) there are: c, or
 * n x groups, or 0 for NONE. */
size_t num_norm_counts(const struct num_norm *norm);

/* num_norm_work() returns how many doubles of scratch the functions want. */
size_t num_norm_work(const struct num_norm *norm);

/* num_norm_forward() writes mean, variance and y, from x, add, gamma and beta;
 * with FIXED it reads mean and variance.  With BATCH or FIXED y may be NULL:
 * then there is none. */
void num_norm_forward(const struct num_norm *norm);

/*
 * num_norm_scales() writes what x - m is multiplied by, from gamma and
 * variance, with BATCH or FIXED.
 *   scale  [c]
 */
void num_norm_scales(const struct num_norm *norm, float *scale);

/* num_norm_apply() writes y from x, add, gamma, beta, mean and variance, as
 * batch norm does in evaluation; it needs no scratch. */
void num_norm_apply(const struct num_norm *norm);

/*
 * num_norm_backward() writes dx, dgamma, dbeta and, where it is not NULL, dadd:
 * it takes dy + dy2 back, through m and v as well, from x, gamma, beta, mean
 * and variance as num_norm_forward() had or left them.  y is for relu: an
 * element that was clipped has no gradient.  Where y is NULL it is computed
 * again from x, which is faster, but only possible where nothing was added and
 * kind is not NONE.
 */
void num_norm_backward(const struct num_norm *norm);

/*
 * Batch norm of a batch whose images are in several parts, each a map of its
 * own, `rows` of them in all: each part does the first half, the caller adds
 * the sums of all parts up, and each does the second half with these.
 *
 *     num_norm_sums()         sum x; sum x^2
 *     num_norm_settle()       mean and variance from these; num_norm_apply()
 *                             then writes y
 *     num_norm_back_sums()    gamma sum f; gamma sum f (x - m), where f is dy
 *                             behind act; and dgamma, dbeta and dadd of a part
 *     num_norm_back_settle()  dx from these
 *
 * Both calls of a pass take the same struct, and work, dy, dadd and y must not
 * change in between.  Sums of squares in double lose digits only where a mean
 * is 1e4 deviations or more, where x in f32 has lost more.
 *   sums  [2 c]  the first sum of each channel, then the second
 */
void num_norm_sums(const struct num_norm *norm, double *sums);
void num_norm_settle(const struct num_norm *norm, const double *sums);
void num_norm_back_sums(const struct num_norm *norm, double *sums);
void num_norm_back_settle(const struct num_norm *norm, const double *sums);

/*
 * Sums image by image, for whoever has just written one (num/conv.h), BATCH
 * alone:
 *
 *     num_norm_measure()       image i of x, before num_norm_forward() or
 *                              num_norm_sums()
 *     num_norm_back_measure()  image i of dy, dy2, x and y, to dadd, before
 *                              num_norm_backward() or num_norm_back_sums()
 *
 * When all images were measured, those with `measured` do the rest, to the bit
 * what they do without.  Images may be measured at the same time.
 */
void num_norm_measure(const struct num_norm *norm, size_t i);
void num_norm_back_measure(const struct num_norm *norm, size_t i);

#endif
