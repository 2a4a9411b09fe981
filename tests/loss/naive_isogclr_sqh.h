#pragma once

#include "loss/naive_running.h"

static inline double
naive_isogclr_sqh(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < n; r++) {
        const size_t p = loss_partner(b, r);
        const float *state = k->state + r % b * 4;
        double e[NAIVE_ROWS], l[NAIVE_ROWS], g = 0, u;

        for (size_t c = 0; c < n; c++) {
            const float *whose =
                k->state + (k->set->reference ? c % b : r % b) * 4;
            const double tau = whose[1] ? whose[3] : k->set->value[LOSS_TAU];

            l[c] = pow(fmax(0, s[r][c] - s[r][p] + 0.8), 2);
            e[c] = exp(pow(fmax(0, s0[r][c] - s0[r][p] + 0.8), 2) / tau);
            g += c == r ? 0 : e[c] / (double)(n - 1);
        }
        u = naive_running(k, state, g);
        for (size_t c = 0; c < n; c++)
            loss += c == r ? 0 : e[c] / ((double)(n - 1) * u) * l[c];
    }
    return loss / (double)b;
}
