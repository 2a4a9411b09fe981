#pragma once

/* What a device does for an objective of row sums, as foil-encoder(5) states
 * it, in double. */
#include <stdlib.h>

#include "loss/naive_batch.h"
#include "util/mem.h"

/* v [n,d] of unit length, and the lengths of the rows. */
static inline void
device_unit(size_t n, size_t d, const float *z, double *v, double *length)
{
    for (size_t r = 0; r < n; r++) {
        double square = 0;

        for (size_t k = 0; k < d; k++)
            square += (double)z[r * d + k] * z[r * d + k];
        length[r] = sqrt(square);
        for (size_t k = 0; k < d; k++)
            v[r * d + k] = z[r * d + k] / length[r];
    }
}

/* The sums of row r from its scores s [n], and its softmax p [n]. */
static inline struct loss_sums
device_row(size_t b, size_t r, enum loss_mask mask, double tau, double tau_all,
           const int64_t *group, const double *s, double *p)
{
    struct loss_sums own = {.log_z = naive_log_sum(b, r, 1 / tau, mask, s),
                            .log_all =
                                naive_log_sum(b, r, 1 / tau_all, LOSS_BATCH, s),
                            .score = s[loss_partner(b, r)]};

    for (size_t c = 0; c < 2 * b; c++) {
        const int same =
            group && c % b != r % b && group[r] >= 0 && group[c] == group[r];

        p[c] =
            naive_is_negative(b, r, c, mask) ? exp(s[c] / tau - own.log_z) : 0;
        own.mean += p[c] * s[c];
        own.same += same ? p[c] : 0;
        own.same_count += same;
    }
    return own;
}

/* The sums of n = 2b rows, and the softmaxes p [n,n]. */
static inline void
device_sums(size_t b, size_t d, const float *z, enum loss_mask mask,
            const double *tau, double tau_all, const int64_t *group, double *p,
            struct loss_sums *sums)
{
    const size_t n = 2 * b;
    double *v = mem_array(n * d, sizeof *v), *s = mem_array(n, sizeof *s);
    double *length = mem_array(n, sizeof *length);

    device_unit(n, d, z, v, length);
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < n; c++) {
            s[c] = 0;
            for (size_t k = 0; k < d; k++)
                s[c] += v[r * d + k] * v[c * d + k];
        }
        sums[r] = device_row(b, r, mask, tau[r], tau_all, group, s, p + r * n);
    }
    free(v);
    free(s);
    free(length);
}

/* dz [n,d] from the coefficients [n,2]. */
static inline void
device_gradient(size_t b, size_t d, const float *z, const double *p,
                const float *coefficient, float *dz)
{
    const size_t n = 2 * b;
    double *v = mem_array(n * d, sizeof *v), *dv = mem_array(d, sizeof *dv);
    double *length = mem_array(n, sizeof *length);

    device_unit(n, d, z, v, length);
    for (size_t r = 0; r < n; r++) {
        const size_t partner = loss_partner(b, r);
        double along = 0;

        memset(dv, 0, d * sizeof *dv);
        for (size_t c = 0; c < n; c++) {
            double w = (double)coefficient[2 * r] * p[r * n + c] +
                       (double)coefficient[2 * c] * p[c * n + r];

            if (c == partner)
                w -= (double)coefficient[2 * r + 1] + coefficient[2 * c + 1];
            for (size_t k = 0; k < d; k++)
                dv[k] += w * v[c * d + k];
        }
        for (size_t k = 0; k < d; k++)
            along += dv[k] * v[r * d + k];
        for (size_t k = 0; k < d; k++)
            dz[r * d + k] = (float)((dv[k] - along * v[r * d + k]) / length[r]);
    }
    free(v);
    free(dv);
    free(length);
}
