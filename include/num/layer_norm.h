#ifndef NUM_LAYER_NORM_H
#define NUM_LAYER_NORM_H

#include <stddef.h>

/*
 * Layer normalisation (Ba, Kiros and Hinton 2016, arXiv:1607.06450) of n rows
 * of d numbers:
 *
 *     y_ij = gamma_j (x_ij - m_i) r_i + beta_j
 *     r_i  = 1 / sqrt(v_i + epsilon)
 *
 * m and v are mean and (biased) variance of a row.  Each function takes one
 * struct; its comment lists the members that it uses.  It uses threads; the
 * result does not depend on their number.  Sums are double, in a fixed order.
 * Against the equations in double, for normal numbers, the largest error over
 * the rms of the result is below 5e-6 for dx and 2e-6 for all others
 * (tests/num/test_layer_norm.c).  O(n d) time, no scratch; calls on different
 * arrays may run at the same time.
 */
struct num_layer_norm {
    size_t n, d;
    int bf16;                  /* x, y, dy and dx are bfloat16 */
    double epsilon;            /* 1e-5 in PyTorch and CLIP, 1e-12 in BERT */
    const void *x;             /* [n,d] */
    const float *gamma, *beta; /* [d] */
    void *y;                   /* [n,d]; may be x */
    float *mean, *rstd;        /* [n]: m and r */
    const void *dy;            /* [n,d] dL/dy */
    void *dx;                  /* [n,d]; may be dy */
    float *dgamma, *dbeta;     /* [d] */
    int add;                   /* 1: adds to dgamma, dbeta; 0: overwrites */
};

/* num_layer_norm_forward() writes y, mean and rstd, from n, d, epsilon, x,
 * gamma and beta. */
void num_layer_norm_forward(const struct num_layer_norm *a);

/*
 * num_layer_norm_backward() writes dgamma, dbeta and, unless NULL, dx, from n,
 * d, x, gamma, mean, rstd and dy.  With u = (x - m) r and means over a row:
 *
 *     dx = r (gamma dy - mean(gamma dy) - u mean(gamma dy u))
 *     dgamma = sum dy u,    dbeta = sum dy    over rows
 */
void num_layer_norm_backward(const struct num_layer_norm *a);

#endif
