#pragma once

#include "loss/naive_batch.h"

static inline double
naive_siglip(const struct naive *k, const double *z)
{
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t i = 0; i < k->b; i++)
        for (size_t j = 0; j < k->b; j++) {
            const double x = s[i][k->b + j] / k->set->value[LOSS_TAU] +
                             naive_param(k, "bias");

            loss += log1p(exp(i == j ? -x : x)) / (double)k->b;
        }
    return loss;
}
