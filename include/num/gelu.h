#ifndef NUM_GELU_H
#define NUM_GELU_H

#include <stddef.h>

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
 * The error of F is at most 4e-7.  Numbers are f32 or, with `bf16`, bfloat16
 * (num/half.h), for which the results of f32 are rounded.  It uses threads; the
 * result does not depend on their number.  O(n) time; calls on different arrays
 * may run at the same time.
 */
enum num_gelu { NUM_GELU_ERF, NUM_GELU_TANH, NUM_GELU_QUICK };

/* num_gelu_forward() writes y [n] from x [n]; y may be x. */
void num_gelu_forward(enum num_gelu form, size_t n, int bf16, const void *x,
                      void *y);

/* num_gelu_backward() writes dL/dx = dL/dy (F(x) + x F'(x)) from x and dL/dy;
 * dx may be dy. */
void num_gelu_backward(enum num_gelu form, size_t n, int bf16, const void *x,
                       const void *dy, void *dx);

#endif
