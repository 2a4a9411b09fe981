#pragma once

#include "num/dense.h"

/* The equations of num/dense.h in loops, in double, for W [out,in].  b and r
 * may be NULL. */

static inline void
plain_dense_forward(size_t n, size_t in, size_t out, const double *x,
                    const double *w, const double *b, const double *r,
                    double *y)
{
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < out; o++) {
            double sum = (b ? b[o] : 0) + (r ? r[i * out + o] : 0);

            for (size_t k = 0; k < in; k++)
                sum += x[i * in + k] * w[o * in + k];
            y[i * out + o] = sum;
        }
}

static inline void
plain_dense_backward(size_t n, size_t in, size_t out, const double *x,
                     const double *w, const double *dy, double *dx, double *dw,
                     double *db)
{
    for (size_t i = 0; i < n * in; i++)
        dx[i] = 0;
    for (size_t i = 0; i < out * in; i++)
        dw[i] = 0;
    for (size_t o = 0; o < out; o++)
        db[o] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < out; o++) {
            const double g = dy[i * out + o];

            db[o] += g;
            for (size_t k = 0; k < in; k++) {
                dx[i * in + k] += g * w[o * in + k];
                dw[o * in + k] += g * x[i * in + k];
            }
        }
}
