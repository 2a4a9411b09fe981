#include <math.h>

#include "num/half.h"
#include "num/layer_norm.h"

#include "lanes.h"

/* LANES partial sums are two registers of AVX-512. */
enum { COLUMNS = 64, ROWS_AHEAD = 8 };

/* Prefetches a part of a later row. */
LANES_INLINE void
prefetch_ahead(const struct num_layer_norm *a, const void *x, size_t i,
               size_t from, size_t n)
{
    if (i + ROWS_AHEAD < a->n)
        lanes_prefetch(num_half_at(x, (i + ROWS_AHEAD) * a->d + from, a->bf16),
                       num_half_bytes(n, a->bf16));
}

static NUM_CLONES(forward_row,
                  (const struct num_layer_norm *a, size_t i, int bf16), a, i)
{
    const size_t d = a->d, even = d - d % LANES;
    const void *x = num_half_at(a->x, i * d, bf16);
    double sum[LANES] = {0}, square[LANES] = {0}, mean;
    void *y = num_half_at(a->y, i * d, bf16);
    float m, r;

    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            sum[j] += number_at(x, at + j, bf16);
    for (size_t at = even; at < d; at++)
        sum[at - even] += number_at(x, at, bf16);
    mean = lanes_total(sum) / (double)d;
    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            square[j] += (number_at(x, at + j, bf16) - mean) *
                         (number_at(x, at + j, bf16) - mean);
    for (size_t at = even; at < d; at++)
        square[at - even] +=
            (number_at(x, at, bf16) - mean) * (number_at(x, at, bf16) - mean);
    m = a->mean[i] = (float)mean;
    r = a->rstd[i] =
        (float)(1 / sqrt(lanes_total(square) / (double)d + a->epsilon));
    for (size_t j = 0; j < d; j++)
        number_to(y, j,
                  a->gamma[j] * ((number_at(x, j, bf16) - m) * r) + a->beta[j],
                  bf16);
}

void
num_layer_norm_forward(const struct num_layer_norm *a)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++) {
        prefetch_ahead(a, a->x, i, 0, a->d);
        forward_row(a, i, a->bf16);
    }
}

static NUM_CLONES(backward_row,
                  (const struct num_layer_norm *a, size_t i, int bf16), a, i)
{
    const size_t d = a->d, even = d - d % LANES;
    const void *x = num_half_at(a->x, i * d, bf16);
    const void *dy = num_half_at(a->dy, i * d, bf16);
    const float *gamma = a->gamma;
    const float m = a->mean[i], r = a->rstd[i];
    double level[LANES] = {0}, along[LANES] = {0};
    void *dx = num_half_at(a->dx, i * d, bf16);
    float mean, slope;

    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++) {
            float g = gamma[at + j] * number_at(dy, at + j, bf16);

            level[j] += g;
            along[j] += (double)g * ((number_at(x, at + j, bf16) - m) * r);
        }
    for (size_t at = even; at < d; at++) {
        float g = gamma[at] * number_at(dy, at, bf16);

        level[at - even] += g;
        along[at - even] += (double)g * ((number_at(x, at, bf16) - m) * r);
    }
    mean = (float)(lanes_total(level) / (double)d);
    slope = (float)(lanes_total(along) / (double)d);
    for (size_t j = 0; j < d; j++)
        number_to(dx, j,
                  r * (gamma[j] * number_at(dy, j, bf16) - mean -
                       (number_at(x, j, bf16) - m) * r * slope),
                  bf16);
}

/* Computes dgamma and dbeta of at most COLUMNS columns from `from` on. */
static NUM_CLONES(backward_columns,
                  (const struct num_layer_norm *a, size_t from, int bf16), a,
                  from)
{
    const size_t n = num_least(COLUMNS, a->d - from);
    double along[COLUMNS] = {0}, level[COLUMNS] = {0};

    for (size_t i = 0; i < a->n; i++) {
        const void *x = num_half_at(a->x, i * a->d + from, bf16);
        const void *dy = num_half_at(a->dy, i * a->d + from, bf16);
        const float m = a->mean[i], r = a->rstd[i];

        prefetch_ahead(a, a->x, i, from, n);
        prefetch_ahead(a, a->dy, i, from, n);
        for (size_t j = 0; j < n; j++) {
            along[j] += (double)number_at(dy, j, bf16) *
                        ((number_at(x, j, bf16) - m) * r);
            level[j] += number_at(dy, j, bf16);
        }
    }
    for (size_t j = 0; j < n; j++) {
        float *dgamma = a->dgamma + from + j, *dbeta = a->dbeta + from + j;

        *dgamma = (a->add ? *dgamma : 0) + (float)along[j];
        *dbeta = (a->add ? *dbeta : 0) + (float)level[j];
    }
}

void
num_layer_norm_backward(const struct num_layer_norm *a)
{
    // columns first: dx may overwrite dy
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < a->d; from += COLUMNS)
        backward_columns(a, from, a->bf16);
    if (!a->dx)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++) {
        prefetch_ahead(a, a->x, i, 0, a->d);
        prefetch_ahead(a, a->dy, i, 0, a->d);
        backward_row(a, i, a->bf16);
    }
}
