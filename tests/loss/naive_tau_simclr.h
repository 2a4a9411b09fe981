#pragma once

#include "loss/naive_batch.h"

static inline double
naive_tau_simclr(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    double loss = 0, t[NAIVE_ROWS];
    naive_matrix s;

    naive_scores(k, k->d - 1, z, s);
    for (size_t r = 0; r < n; r++)
        t[r] = 1 / (1 + exp(-z[(r + 1) * k->d - 1])) / k->set->value[LOSS_TAU];
    for (size_t r = 0; r < n; r++) {
        const double sum = exp(naive_log_sum(b, r, t[r], LOSS_NEGATIVES, s[r]));

        loss += log(sum + (k->set->reference ? 1e-6 : 0)) -
                t[k->set->reference ? r % b : r] * s[r][loss_partner(b, r)];
    }
    return loss / (double)n;
}
