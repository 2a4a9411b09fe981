#include <math.h>

#include "num/layer_norm.h"
#include "util/clones.h"

/* Partial sums: as many as two registers of AVX-512 hold. */
enum { PARTS = 16, COLUMNS = 64 };

static double
total(const double *part)
{
    double sum = 0;

    for (size_t j = 0; j < PARTS; j++)
        sum += part[j];
    return sum;
}

UTIL_CLONES static void
forward_row(const struct num_layer_norm *a, size_t i)
{
    const size_t d = a->d, even = d - d % PARTS;
    const float *x = a->x + i * d;
    double sum[PARTS] = {0}, square[PARTS] = {0}, mean;
    float *y = a->y + i * d, m, r;

    for (size_t at = 0; at < even; at += PARTS)
        for (size_t j = 0; j < PARTS; j++)
            sum[j] += x[at + j];
    for (size_t at = even; at < d; at++)
        sum[at - even] += x[at];
    mean = total(sum) / (double)d;
    for (size_t at = 0; at < even; at += PARTS)
        for (size_t j = 0; j < PARTS; j++)
            square[j] += (x[at + j] - mean) * (x[at + j] - mean);
    for (size_t at = even; at < d; at++)
        square[at - even] += (x[at] - mean) * (x[at] - mean);
    m = a->mean[i] = (float)mean;
    r = a->rstd[i] = (float)(1 / sqrt(total(square) / (double)d + a->epsilon));
    for (size_t j = 0; j < d; j++)
        y[j] = a->gamma[j] * ((x[j] - m) * r) + a->beta[j];
}

void
num_layer_norm_forward(const struct num_layer_norm *a)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++)
        forward_row(a, i);
}

UTIL_CLONES static void
backward_row(const struct num_layer_norm *a, size_t i)
{
    const size_t d = a->d, even = d - d % PARTS;
    const float *x = a->x + i * d, *dy = a->dy + i * d, *gamma = a->gamma;
    const float m = a->mean[i], r = a->rstd[i];
    double level[PARTS] = {0}, along[PARTS] = {0};
    float *dx = a->dx + i * d, mean, slope;

    for (size_t at = 0; at < even; at += PARTS)
        for (size_t j = 0; j < PARTS; j++) {
            float g = gamma[at + j] * dy[at + j];

            level[j] += g;
            along[j] += (double)g * ((x[at + j] - m) * r);
        }
    for (size_t at = even; at < d; at++) {
        float g = gamma[at] * dy[at];

        level[at - even] += g;
        along[at - even] += (double)g * ((x[at] - m) * r);
    }
    mean = (float)(total(level) / (double)d);
    slope = (float)(total(along) / (double)d);
    for (size_t j = 0; j < d; j++)
        dx[j] = r * (gamma[j] * dy[j] - mean - (x[j] - m) * r * slope);
}

/* dgamma and dbeta of the columns from `from` on, at most COLUMNS. */
UTIL_CLONES static void
backward_columns(const struct num_layer_norm *a, size_t from)
{
    const size_t n = a->d - from < COLUMNS ? a->d - from : COLUMNS;
    double along[COLUMNS] = {0}, level[COLUMNS] = {0};

    for (size_t i = 0; i < a->n; i++) {
        const float *x = a->x + i * a->d + from, *dy = a->dy + i * a->d + from;
        const float m = a->mean[i], r = a->rstd[i];

        for (size_t j = 0; j < n; j++) {
            along[j] += (double)dy[j] * ((x[j] - m) * r);
            level[j] += dy[j];
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
    // columns first: dx may take the place of dy
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < a->d; from += COLUMNS)
        backward_columns(a, from);
    if (!a->dx)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++)
        backward_row(a, i);
}
