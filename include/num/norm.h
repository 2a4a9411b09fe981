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
 *     NUM_NORM_FIXED   nothing: they are given, as batch norm has them in
 *                      evaluation, and no gradient goes through them
 *
 * add is another map or nothing, act is max(., 0), which leaves a NaN a NaN,
 * or nothing.  Sums are f32 within one plane of an image and double beyond;
 * results do not depend on the number of threads.  O(size) time, two passes
 * over x.
 */
enum num_norm_kind {
    NUM_NORM_BATCH,
    NUM_NORM_GROUP,
    NUM_NORM_NONE,
    NUM_NORM_FIXED
};

struct num_norm {
    enum num_norm_kind kind;
    struct num_map map; /* of x, y and all their gradients */
    size_t groups;      /* GROUP only; divides c */
    int relu;
};

/* num_norm_counts() returns how many means (and variances) there are: c, or
 * n x groups, or 0 for NONE. */
size_t num_norm_counts(const struct num_norm *norm);

/* num_norm_work() returns how many doubles of scratch the functions want. */
size_t num_norm_work(const struct num_norm *norm);

/*
 * num_norm_forward() measures m and v and normalises with them.
 *   x, y        maps; y may be x
 *   add         map or NULL; not y
 *   gamma, beta [c]
 *   mean, variance [num_norm_counts()], overwritten; FIXED: read
 *   work        [num_norm_work()]
 */
void num_norm_forward(const struct num_norm *norm, const void *x,
                      const float *gamma, const float *beta, const void *add,
                      void *y, float *mean, float *variance, double *work);

/* num_norm_apply() normalises with the m and v that it is given, as batch
 * norm does in evaluation. */
void num_norm_apply(const struct num_norm *norm, const void *x,
                    const float *gamma, const float *beta, const void *add,
                    const float *mean, const float *variance, void *y);

/*
 * num_norm_backward() takes dL/dy back, through m and v as well.
 *   x, gamma, beta, mean, variance  as num_norm_forward() had or left them
 *   y         its y, for relu: what was clipped has no gradient.  NULL stands
 *             for "make it again from x", which is faster, but only possible
 *             where nothing was added and kind is not NONE
 *   dy, dy2   dL/dy is their sum; dy2 may be NULL
 *   dx        overwritten; may be dy where dadd is NULL
 *   dadd      dL/dadd or NULL, overwritten; may be dy or dy2, not dx
 *   dgamma, dbeta [c]  overwritten, or added to with accumulate = 1
 *   work      [num_norm_work()]
 */
void num_norm_backward(const struct num_norm *norm, const void *x,
                       const void *y, const float *gamma, const float *beta,
                       const float *mean, const float *variance, const void *dy,
                       const void *dy2, void *dx, void *dadd, float *dgamma,
                       float *dbeta, int accumulate, double *work);

/* The same in loops, for plain f32 maps (block 1): the definition.
 *   work  three doubles an element */
void num_norm_forward_plain(const struct num_norm *norm, const float *x,
                            const float *gamma, const float *beta,
                            const float *add, float *y, float *mean,
                            float *variance, double *work);
void num_norm_backward_plain(const struct num_norm *norm, const float *x,
                             const float *y, const float *gamma,
                             const float *mean, const float *variance,
                             const float *dy, float *dx, float *dadd,
                             float *dgamma, float *dbeta, double *work);

#endif
