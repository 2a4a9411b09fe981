#pragma once

/* emc2, emc2_bimodal and cache. */
#include "loss/naive_batch.h"

/* Negatives of a service, with its factors. */
static inline double
naive_sampled(const struct naive *k, const double *z)
{
    const size_t n = 2 * k->b;
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < k->rows; c++)
            loss += k->scale[2 * r + 1] * k->weights[r * k->rows + c] *
                    s[r][c] / k->set->value[LOSS_TAU];
        loss -= k->scale[2 * r] * s[r][loss_partner(k->b, r)] /
                k->set->value[LOSS_TAU];
    }
    return loss / (double)n;
}
