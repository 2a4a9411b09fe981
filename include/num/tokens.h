#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Layers of transformers for the packed tokens of n samples: sample i is the
 * rows [offsets[i], offsets[i + 1]).  Rows have d numbers, f32 or, with `bf16`,
 * bfloat16 (num/half.h); vectors that rows share, and their gradients, are f32.
 *
 * The gradient of a vector that k rows share is a sum over these rows in their
 * order, in f32, for any number of threads, so its error is at most k / 2^24 of
 * the sum of their magnitudes; all other results are rounded once
 * (tests/num/test_tokens.c), except for those of the norm and of GELU.  With
 * `add` gradients are added to the output, else they overwrite it.  Functions
 * use threads, whose number does not change the results.  Calls on different
 * arrays may run at the same time.
 */

/* num_embed() looks up rows of a table: y_t = table[id_t].
 *   ids [n], each below the rows of the table;  y [n,d] */
void num_embed(size_t n, size_t d, int bf16, const int32_t *ids,
               const float *table, void *y);

/*
 * num_embed_back() writes the gradient, dtable[r] = sum of dy_t over id_t = r,
 * of all `rows` rows.
 *   order  [num_embed_scratch()] scratch
 * O(rows d + n d) time: rows are sorted by id first.
 */
size_t num_embed_scratch(size_t n, size_t rows);
void num_embed_back(size_t n, size_t d, int bf16, size_t rows,
                    const int32_t *ids, const void *dy, int add, float *dtable,
                    uint32_t *order);

/* num_position() adds the vector of a token's position in its sample:
 * y_t = x_t + p[t - offsets[i]].
 *   x, y [tokens,d], may be the same;  p [longest,d] */
void num_position(size_t n, const size_t *offsets, size_t d, int bf16,
                  const float *p, const void *x, void *y);

/* num_position_back() writes dp [longest,d]; dx equals dy. */
void num_position_back(size_t n, const size_t *offsets, size_t longest,
                       size_t d, int bf16, const void *dy, int add, float *dp);

/* num_column_sums() writes sum_j = sum over rows i of x_ij, in double and in
 * the order of rows.
 *   x [n,d];  sum [d] */
void num_column_sums(size_t n, size_t d, int bf16, const void *x, int add,
                     float *sum);

/*
 * Layer normalisation (Ba, Kiros and Hinton 2016, arXiv:1607.06450) of n rows
 * of d numbers:
 *
 *     y_ij = gamma_j (x_ij - m_i) r_i + beta_j
 *     r_i  = 1 / sqrt(v_i + epsilon)
 *
 * m and v are mean and (biased) variance of a row.  Each function takes one
 * struct; its comment lists the members that it uses.  Sums are double, in a
 * fixed order.  Against the equations in double, for normal numbers, the
 * largest error over the rms of the result is below 5e-6 for dx and 2e-6 for
 * all others (tests/num/test_layer_norm.c).  O(n d) time, no scratch.
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

/*
 * The Gaussian error linear unit (Hendrycks and Gimpel 2016, arXiv:1606.08415)
 * of n numbers, y = x F(x), in three forms:
 *
 *     NUM_GELU_ERF    F(x) = (1 + erf(x / sqrt 2)) / 2: the definition, and
 *                     PyTorch's default (approximate='none')
 *     NUM_GELU_TANH   F(x) = (1 + tanh(u)) / 2 = 1 / (1 + e^-2u),
 *                     u = sqrt(2 / pi) (x + 0.044715 x^3): approximate='tanh'
 *     NUM_GELU_QUICK  F(x) = 1 / (1 + e^-1.702x): for OpenAI's weights of CLIP
 *
 * The error of F is at most 4e-7; for bfloat16 the results of f32 are rounded.
 * O(n) time.
 */
enum num_gelu { NUM_GELU_ERF, NUM_GELU_TANH, NUM_GELU_QUICK };

/* num_gelu_forward() writes y [n] from x [n]; y may be x. */
void num_gelu_forward(enum num_gelu form, size_t n, int bf16, const void *x,
                      void *y);

/* num_gelu_backward() writes dL/dx = dL/dy (F(x) + x F'(x)) from x and dL/dy;
 * dx may be dy. */
void num_gelu_backward(enum num_gelu form, size_t n, int bf16, const void *x,
                       const void *dy, void *dx);
