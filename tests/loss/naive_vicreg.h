#pragma once

#include "loss/naive_columns.h"

static inline double
naive_vicreg(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    const double count = (double)(b - 1), width = (double)d;
    double loss = 0, mean;

    for (size_t i = 0; i < b * d; i++)
        loss += naive_param(k, "invariance") * pow(z[i] - z[b * d + i], 2) /
                ((double)b * width);
    for (const double *x = z; x <= z + b * d; x += b * d)
        for (size_t i = 0; i < d; i++) {
            const double var = naive_column(b, d, i, x, &mean) / count;

            loss += naive_param(k, "variance") / 2 *
                    fmax(0, 1 - sqrt(var + 1e-4)) / width;
            for (size_t j = 0; j < d; j++)
                loss +=
                    i == j
                        ? 0
                        : naive_param(k, "covariance") / width *
                              pow(naive_product(b, d, i, j, x, x) / count, 2);
        }
    return loss;
}
