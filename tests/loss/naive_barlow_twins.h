#pragma once

#include "loss/naive_columns.h"

static inline double
naive_barlow_twins(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    double loss = 0, mean;

    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            const double *y = z + b * d;
            const double one = naive_column(b, d, i, z, &mean) / (double)b;
            const double two = naive_column(b, d, j, y, &mean) / (double)b;
            const double c = naive_product(b, d, i, j, z, y) / (double)b /
                             sqrt((one + 1e-5) * (two + 1e-5));

            loss += i == j ? pow(c - 1, 2) : naive_param(k, "lambda") * c * c;
        }
    return loss;
}
