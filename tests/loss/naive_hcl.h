#pragma once

#include "loss/naive_batch.h"

static inline double
naive_hcl(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    const double tau = k->set->value[LOSS_TAU], beta = naive_param(k, "beta");
    const double plus = naive_param(k, "tau-plus"), m = (double)(n - 2);
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < n; r++) {
        const double pos = exp(s[r][loss_partner(b, r)] / tau);
        double up = 0, down = 0, ng;

        for (size_t c = 0; c < n; c++) {
            const double neg = exp(s[r][c] / tau);

            if (!naive_is_negative(b, r, c, LOSS_NEGATIVES))
                continue;
            up += pow(neg, beta) * neg;
            down += pow(neg, beta) / m;
        }
        ng = (up / down - plus * m * pos) / (1 - plus);
        ng = fmax(ng, m * exp(-1 / tau));
        loss -= log(pos / (pos + ng));
    }
    return loss / (double)n;
}
