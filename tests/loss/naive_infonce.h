#pragma once

#include "loss/naive_batch.h"

static inline double
naive_decoupled(const struct naive *k, const double *z, enum loss_mask mask)
{
    const double beta = 1 / k->set->value[LOSS_TAU];
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < 2 * k->b; r++)
        loss += naive_log_sum(k->b, r, beta, mask, s[r]) -
                beta * s[r][loss_partner(k->b, r)];
    return loss / (double)(2 * k->b);
}

static inline double
naive_infonce(const struct naive *k, const double *z)
{
    return naive_decoupled(k, z, LOSS_BATCH);
}

static inline double
naive_infonce_across(const struct naive *k, const double *z)
{
    return 2 * naive_decoupled(k, z, LOSS_CROSS);
}
