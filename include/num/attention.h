#pragma once

#include <stddef.h>

/*
 * Scaled dot-product attention with several heads (Vaswani et al. 2017,
 * arXiv:1706.03762, equation 1) for n texts with packed tokens.  For each text
 * and head, with query q_i, key k_i and value v_i of token i, d numbers each:
 *
 *     s_ij = <q_i, k_j> / sqrt(d)
 *     p_ij = e^s_ij / sum_j e^s_ij,    y_i = sum_j p_ij v_j
 *
 * j is over the tokens of the same text, with `causal` over those up to i.
 * There is no padding.
 *
 * Forward stores two numbers for each token and head, from which backward
 * recomputes p, bit for bit.  A text's results do not depend on the other
 * texts, nor on the number of threads: each sum is over ascending j (or d, or
 * i), in f32, that of e^s in double.  For bfloat16 (num/half.h) each result is
 * that of the same numbers in f32, rounded.  For normally distributed numbers,
 * y differs from the equation in double by less than 2e-6, and gradients by
 * less than 1e-5 (tests/num/test_attention.c).
 *
 * Each function takes one struct; its comment lists the members that it uses.
 * O(sum over texts of length^2 heads d) time; calls on different arrays may run
 * at the same time.
 */
struct num_attention {
    size_t n;
    const size_t *offsets; /* [n + 1], ascending: text i is the tokens
                              [offsets[i], offsets[i + 1]) */
    size_t longest;        /* at least the maximum tokens of a text */
    size_t heads, d;
    int causal;
    int bf16;              /* q, k, v, y and their gradients are bfloat16 */
    size_t stride;         /* numbers from one token to the next in q, k, v
                              and their gradients; >= heads d */
    const void *q, *k, *v; /* [tokens,heads,d], with `stride` */
    void *y;               /* [tokens,heads,d], packed */
    float *top, *share;    /* [tokens,heads]: max_j s_ij; 1 / sum_j e^(s_ij -
                              top) */
    const void *dy;        /* [tokens,heads,d], packed: dL/dy */
    void *dq, *dk, *dv;    /* [tokens,heads,d], with `stride` */
    float *scratch;        /* [num_attention_scratch()] */
};

/* num_attention_scratch() returns the floats of scratch for both functions and
 * all threads. */
size_t num_attention_scratch(size_t longest, size_t d);

/* num_attention_forward() writes y, top and share, from q, k and v. */
void num_attention_forward(const struct num_attention *a);

/*
 * num_attention_backward() writes dq, dk and dv, from q, k, v, top, share and
 * dy.  With g_ij = <dy_i, v_j>:
 *
 *     ds_ij = p_ij (g_ij - sum_j p_ij g_ij) / sqrt(d)
 *     dq_i = sum_j ds_ij k_j,  dk_j = sum_i ds_ij q_i,  dv_j = sum_i p_ij dy_i
 */
void num_attention_backward(const struct num_attention *a);
