#pragma once

/* Columns of a view, for barlow_twins and vicreg. */
#include "loss/naive_batch.h"

/* Mean and sum of squares about it of column k. */
static inline double
naive_column(size_t b, size_t d, size_t k, const double *z, double *mean)
{
    double squares = 0;

    *mean = 0;
    for (size_t i = 0; i < b; i++)
        *mean += z[i * d + k] / (double)b;
    for (size_t i = 0; i < b; i++)
        squares += pow(z[i * d + k] - *mean, 2);
    return squares;
}

/* sum_i (x_ik - mean)(y_il - mean) */
static inline double
naive_product(size_t b, size_t d, size_t k, size_t l, const double *x,
              const double *y)
{
    double one, two, sum = 0;

    naive_column(b, d, k, x, &one);
    naive_column(b, d, l, y, &two);
    for (size_t i = 0; i < b; i++)
        sum += (x[i * d + k] - one) * (y[i * d + l] - two);
    return sum;
}
