#pragma once

/* sogclr_bimodal and isogclr_bimodal. */
#include "loss/naive_running.h"

static inline double
naive_bimodal(const struct naive *k, const double *z)
{
    const size_t b = k->b, columns = k->objective->columns;
    const enum loss_mask mask =
        k->set->reference ? LOSS_CROSS : LOSS_CROSS_NEGATIVES;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < 2 * b; r++) {
        const size_t p = loss_partner(b, r);
        const float *state = k->state + r * columns;
        const double tau =
            columns == 4 && state[1] ? state[3] : k->set->value[LOSS_TAU];
        double e[NAIVE_ROWS] = {0}, g = 0;

        for (size_t c = 0; c < 2 * b; c++)
            if (naive_is_negative(b, r, c, mask)) {
                e[c] = exp((s0[r][c] - s0[r][p]) / tau) / (double)(b - 1);
                g += e[c];
            }
        for (size_t c = 0; c < 2 * b; c++)
            loss += e[c] / naive_running(k, state, g) * (s[r][c] - s[r][p]);
    }
    return loss / (double)b;
}
