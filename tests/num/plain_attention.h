#pragma once

#include <math.h>

#include "num/attention.h"

/* The equations of num/attention.h in loops, in double, of one text and one
 * head. q, k, v, y and gradients  [len,d];  p [len,len] is written by forward,
 * read by backward */

static inline double
dot_product(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline void
plain_attention_forward(size_t len, size_t d, int causal, const double *q,
                        const double *k, const double *v, double *y, double *p)
{
    for (size_t i = 0; i < len; i++) {
        const size_t end = causal ? i + 1 : len;
        double top = -INFINITY, sum = 0;

        for (size_t j = 0; j < len; j++) {
            double s = dot_product(d, q + i * d, k + j * d) / sqrt((double)d);

            p[i * len + j] = j < end ? s : -INFINITY;
            top = fmax(top, p[i * len + j]);
        }
        for (size_t j = 0; j < len; j++) {
            p[i * len + j] = exp(p[i * len + j] - top);
            sum += p[i * len + j];
        }
        for (size_t c = 0; c < d; c++)
            y[i * d + c] = 0;
        for (size_t j = 0; j < len; j++) {
            p[i * len + j] /= sum;
            for (size_t c = 0; c < d; c++)
                y[i * d + c] += p[i * len + j] * v[j * d + c];
        }
    }
}

static inline void
plain_attention_backward(size_t len, size_t d, const double *q, const double *k,
                         const double *v, const double *p, const double *dy,
                         double *dq, double *dk, double *dv)
{
    for (size_t i = 0; i < len * d; i++)
        dq[i] = dk[i] = dv[i] = 0;
    for (size_t i = 0; i < len; i++) {
        double mean = 0;

        for (size_t j = 0; j < len; j++)
            mean += p[i * len + j] * dot_product(d, dy + i * d, v + j * d);
        for (size_t j = 0; j < len; j++) {
            double g = dot_product(d, dy + i * d, v + j * d);
            double ds = p[i * len + j] * (g - mean) / sqrt((double)d);

            for (size_t c = 0; c < d; c++) {
                dq[i * d + c] += ds * k[j * d + c];
                dk[j * d + c] += ds * q[i * d + c];
                dv[j * d + c] += p[i * len + j] * dy[i * d + c];
            }
        }
    }
}
