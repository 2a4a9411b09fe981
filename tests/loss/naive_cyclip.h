#pragma once

#include "loss/naive_clip.h"

static inline double
naive_cyclip(const struct naive *k, const double *z)
{
    const size_t b = k->b;
    double within = 0, across = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            within += pow(s[i][j] - s[b + i][b + j], 2) / (double)b;
            across += pow(s[i][b + j] - s[j][b + i], 2) / (double)b;
        }
    return naive_clip(k, z) + naive_param(k, "within") * within +
           naive_param(k, "across") * across;
}
