#pragma once

/* sogclr and isogclr. */
#include "loss/naive_batch.h"

/* The running mean of a row's sums g. */
static inline double
naive_running(const struct naive *k, const float *state, double g)
{
    const double gamma = naive_param(k, "gamma");

    if (!state[1])
        return k->set->reference ? gamma * g : g;
    return (1 - gamma) * exp(state[0]) + gamma * g;
}

static inline double
naive_running_rows(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b, columns = k->objective->columns;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < n; r++) {
        const float *state = k->state + r % b * columns;
        const double tau =
            columns == 4 && state[1] ? state[3] : k->set->value[LOSS_TAU];
        const double m = (double)(n - 2);
        const double g =
            exp(naive_log_sum(b, r, 1 / tau, LOSS_NEGATIVES, s0[r]));
        const double u = naive_running(k, state, g / m);

        for (size_t c = 0; c < n; c++)
            if (naive_is_negative(b, r, c, LOSS_NEGATIVES))
                loss += exp(s0[r][c] / tau) / (m * u) * s[r][c];
        loss -= s[r][loss_partner(b, r)];
    }
    return loss / (double)b;
}
