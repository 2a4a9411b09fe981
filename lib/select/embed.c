#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/eigen.h"
#include "num/exp.h"
#include "num/vec.h"
#include "select/score.h"
#include "util/clones.h"
#include "util/mem.h"

#include "spectral.h"

/* Residuals of eigenvectors: smaller ones do not make better batches. */
static const double loose = 4e-3;

enum { LANES = 32 };

/* w_ij scale_i scale_j - q_i q_j, where scale_i is D_i^-1/2. */
static UTIL_CLONES(void, normalise_weights,
                   (size_t n, const float *scale, const float *q, float *w),
                   (n, scale, q, w))
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] = w[i * n + j] * scale[i] * scale[j] - q[i] * q[j];
}

/* exp(w_ij) (D_i D_j)^-1/2 by logarithms, zero diagonal: half_i is log(D_i) /
 * 2. */
static UTIL_CLONES(void, normalise_exp, (size_t n, const float *half, float *w),
                   (n, half, w))
{
    for (size_t i = 0; i < n; i++) {
        float *row = w + i * n;

        for (size_t j = 0; j < n; j++)
            row[j] = num_exp(row[j] - half[i] - half[j]);
        row[i] = 0;
    }
}

/* The logarithm of the sum of e^w over a row, without element `own`. */
static UTIL_CLONES(double, log_sum, (size_t n, size_t own, const float *w),
                   (n, own, w))
{
    float part[LANES] = {0}, max = 0;
    double sum = 0;

    for (size_t j = 0; j < n; j++)
        max = w[j] > max ? w[j] : max;
    for (size_t j = 0; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            part[l] += num_exp(w[j + l] - max);
    for (size_t j = n / LANES * LANES; j < n; j++)
        sum += num_exp(w[j] - max);
    for (size_t l = 0; l < LANES; l++)
        sum += part[l];
    return log(sum - num_exp(w[own] - max)) + max;
}

static UTIL_CLONES(double, row_sum, (size_t n, const float *w), (n, w))
{
    float part[LANES] = {0};
    double sum = 0;

    for (size_t j = 0; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            part[l] += w[j + l];
    for (size_t j = n / LANES * LANES; j < n; j++)
        sum += w[j];
    for (size_t l = 0; l < LANES; l++)
        sum += part[l];
    return sum;
}

/* Subtracts q q'. */
static UTIL_CLONES(void, deflate_weights, (size_t n, const float *q, float *w),
                   (n, q, w))
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] -= q[i] * q[j];
}

/*
 * D^-1/2 W D^-1/2 - q q', where q [n] is D^1/2 scaled to unit length: the first
 * eigenvector, of eigenvalue 1.  It is subtracted because the other eigenvalues
 * may be a thousand times smaller and need the same precision.  scale [n] is
 * scratch.
 */
static void
make_njw(size_t n, float *w, float *q, float *scale)
{
    for (size_t i = 0; i < n; i++) {
        const double degree = row_sum(n, w + i * n);

        q[i] = (float)sqrt(degree);
        scale[i] = degree > 0 ? (float)(1 / sqrt(degree)) : 0;
    }
    num_unit_rows(1, n, q, q, NULL);
    normalise_weights(n, scale, q, w);
}

/* The same for exp(W).  D^1/2 is divided by its largest, D^-1/2 by its largest
 * value; scale [n] gets D^-1/2. */
static void
make_code(size_t n, float *w, float *q, float *scale)
{
    float least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        scale[i] = (float)(log_sum(n, i, w + i * n) / 2);
        least = fminf(least, scale[i]);
        most = fmaxf(most, scale[i]);
    }
    normalise_exp(n, scale, w);
    for (size_t i = 0; i < n; i++) {
        q[i] = expf(scale[i] - most);
        scale[i] = expf(least - scale[i]);
    }
    num_unit_rows(1, n, q, q, NULL);
    deflate_weights(n, q, w);
}

/* D - W. */
static void
make_literal(size_t n, float *w)
{
    for (size_t i = 0; i < n; i++) {
        const double degree = row_sum(n, w + i * n);

        num_scale(n, -1, w + i * n);
        w[i * n + i] = (float)degree;
    }
}

/* x [n,k] from eigenvectors. */
static void
embed_spectrum(const struct select_task *task, size_t n, size_t k,
               const int64_t *ids, struct rng *rng, float *x)
{
    const enum spectral_variant variant =
        (enum spectral_variant)task->value[SPECTRAL_VARIANT];
    float *w = mem_unset(n * n, sizeof *w), *q = mem_array(2 * n, sizeof *q);
    float *vector = mem_unset(n * k, sizeof *vector), *scale = q + n;
    float *value = mem_array(k, sizeof *value);

    select_affinity(task->features, task->value[SELECT_TAU],
                    task->layout.batch + (task->layout.larger > 0), n, ids, w);
    if (variant == SPECTRAL_LITERAL) {
        make_literal(n, w);
        num_eigen(n, k, w, loose, rng, value, vector);
    } else {
        (variant == SPECTRAL_CODE ? make_code : make_njw)(n, w, q, scale);
        memcpy(vector, q, n * sizeof *q);
        num_eigen(n, k - 1, w, loose, rng, value, vector + n);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            x[i * k + c] =
                vector[c * n + i] * (variant == SPECTRAL_CODE ? scale[i] : 1);
    if (variant != SPECTRAL_CODE)
        num_unit_rows(n, k, x, x, NULL);
    free(w);
    free(q);
    free(vector);
    free(value);
}

/* x [n,d]: the means of both views. */
static void
embed_means(const struct select_features *f, size_t n, const int64_t *ids,
            float *x)
{
    for (size_t i = 0; i < n; i++) {
        const size_t row = (size_t)ids[i] * f->d;

        for (size_t j = 0; j < f->d; j++)
            x[i * f->d + j] = (f->u[row + j] + f->v[row + j]) / 2;
    }
}

size_t
select_embed_dimension(const struct select_task *task, size_t k)
{
    return task->value[SPECTRAL_VARIANT] == SPECTRAL_KMEANS ? task->features->d
                                                            : k;
}

void
select_embed(const struct select_task *task, size_t n, size_t k,
             const int64_t *ids, struct rng *rng, float *x)
{
    if (task->value[SPECTRAL_VARIANT] == SPECTRAL_KMEANS)
        embed_means(task->features, n, ids, x);
    else
        embed_spectrum(task, n, k, ids, rng, x);
}
