#pragma once

#include <math.h>

#include "num/tokens.h"

/* The equations of num/tokens.h in loops, in double.  Shapes as above. */

static inline void
measure_row(size_t d, double epsilon, const double *x, double *mean,
            double *rstd)
{
    double sum = 0, square = 0;

    for (size_t j = 0; j < d; j++)
        sum += x[j];
    *mean = sum / (double)d;
    for (size_t j = 0; j < d; j++)
        square += (x[j] - *mean) * (x[j] - *mean);
    *rstd = 1 / sqrt(square / (double)d + epsilon);
}

static inline void
plain_layer_norm_forward(size_t n, size_t d, double epsilon, const double *x,
                         const double *gamma, const double *beta, double *y)
{
    for (size_t i = 0; i < n; i++) {
        double mean, rstd;

        measure_row(d, epsilon, x + i * d, &mean, &rstd);
        for (size_t j = 0; j < d; j++)
            y[i * d + j] = gamma[j] * (x[i * d + j] - mean) * rstd + beta[j];
    }
}

static inline void
plain_layer_norm_backward(size_t n, size_t d, double epsilon, const double *x,
                          const double *gamma, const double *dy, double *dx,
                          double *dgamma, double *dbeta)
{
    for (size_t j = 0; j < d; j++)
        dgamma[j] = dbeta[j] = 0;
    for (size_t i = 0; i < n; i++) {
        double mean, rstd, level = 0, along = 0;

        measure_row(d, epsilon, x + i * d, &mean, &rstd);
        for (size_t j = 0; j < d; j++) {
            double u = (x[i * d + j] - mean) * rstd, g = dy[i * d + j];

            level += gamma[j] * g / (double)d;
            along += gamma[j] * g * u / (double)d;
            dgamma[j] += g * u;
            dbeta[j] += g;
        }
        for (size_t j = 0; j < d; j++) {
            double u = (x[i * d + j] - mean) * rstd, g = dy[i * d + j];

            dx[i * d + j] = rstd * (gamma[j] * g - level - u * along);
        }
    }
}
