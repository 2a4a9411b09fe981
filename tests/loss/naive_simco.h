#pragma once

#include "loss/naive_batch.h"

/* -log p of the partner among the other view's rows, and 1 - p. */
static inline double
naive_surprise(size_t b, size_t r, double beta, const double *s, double *mass)
{
    const double own = exp(beta * s[loss_partner(b, r)]);
    const double others =
        exp(naive_log_sum(b, r, beta, LOSS_CROSS_NEGATIVES, s));

    *mass = others / (own + others);
    return log(1 + others / own);
}

static inline double
naive_simco(const struct naive *k, const double *z)
{
    const size_t b = k->b, rows = k->set->reference ? b : 2 * b;
    const double beta = k->set->reference ? 1 : 1 / k->set->value[LOSS_TAU];
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < rows; r++) {
        double far, near, none;

        naive_surprise(b, r, 1 / naive_param(k, "tau-inter"), s0[r], &far);
        naive_surprise(b, r, 1 / k->set->value[LOSS_TAU], s0[r], &near);
        loss += far / near * naive_surprise(b, r, beta, s[r], &none);
    }
    return loss / (double)rows;
}
