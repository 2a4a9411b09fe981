#pragma once

#include "loss/naive_batch.h"

static inline double
naive_spectral_cl(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    const double mu = naive_param(k, "mu");
    double loss = 0, x[NAIVE_ROWS * NAIVE_WIDTH];

    for (size_t r = 0; r < 2 * b; r++) {
        double square = 0;

        for (size_t i = 0; i < d; i++)
            square += z[r * d + i] * z[r * d + i];
        for (size_t i = 0; i < d; i++)
            x[r * d + i] = z[r * d + i] * fmin(1, sqrt(mu / square));
    }
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            double t = 0;

            for (size_t l = 0; l < d; l++)
                t += x[i * d + l] * x[(b + j) * d + l];
            loss += i == j ? -2 * t / (double)b : t * t / (double)(b * (b - 1));
        }
    return loss / mu;
}
