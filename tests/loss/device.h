#ifndef TESTS_LOSS_DEVICE_H
#define TESTS_LOSS_DEVICE_H

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
        struct loss_sums *own = sums + r;

        *own = (struct loss_sums){0};
        for (size_t c = 0; c < n; c++) {
            s[c] = 0;
            for (size_t k = 0; k < d; k++)
                s[c] += v[r * d + k] * v[c * d + k];
        }
        own->log_z = naive_log_sum(b, r, 1 / tau[r], mask, s);
        own->log_all = naive_log_sum(b, r, 1 / tau_all, LOSS_BATCH, s);
        own->score = s[loss_partner(b, r)];
        for (size_t c = 0; c < n; c++) {
            const int same = group && c % b != r % b && group[r] >= 0 &&
                             group[c] == group[r];
            double *at = p + r * n + c;

            *at = naive_is_negative(b, r, c, mask)
                      ? exp(s[c] / tau[r] - own->log_z)
                      : 0;
            own->mean += *at * s[c];
            own->same += same ? *at : 0;
            own->same_count += same;
        }
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

#endif
