#include <math.h>
#include <stdint.h>
#include <string.h>

#include "num/vec.h"
#include "util/clones.h"

static const double guard = 1e-12; // as in the header

UTIL_CLONES(double, num_dot, (size_t n, const float *x, const float *y),
            (n, x, y))
{
    double part[8] = {0}, sum = 0;
    size_t i = 0;

    // eight partial sums in a fixed order: fast and deterministic
    for (; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++)
            part[j] += (double)x[i + j] * y[i + j];
    for (; i < n; i++)
        sum += (double)x[i] * y[i];
    for (size_t j = 0; j < 8; j++)
        sum += part[j];
    return sum;
}

double
num_dot_doubles(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

UTIL_CLONES(double, num_sum, (size_t n, const float *x), (n, x))
{
    double part[8] = {0}, sum = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++)
            part[j] += x[i + j];
    for (; i < n; i++)
        sum += x[i];
    for (size_t j = 0; j < 8; j++)
        sum += part[j];
    return sum;
}

UTIL_CLONES(float, num_max, (size_t n, const float *x), (n, x))
{
    float part[16];
    size_t i = 0;

    for (size_t j = 0; j < 16; j++)
        part[j] = -INFINITY;
    for (; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; j++)
            part[j] = x[i + j] > part[j] ? x[i + j] : part[j];
    for (; i < n; i++)
        part[0] = x[i] > part[0] ? x[i] : part[0];
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            part[j] = part[j + half] > part[j] ? part[j + half] : part[j];
    return part[0];
}

void
num_axpy(size_t n, float alpha, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

void
num_scale(size_t n, float alpha, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= alpha;
}

void
num_scale_rows(size_t n, size_t d, const float *scale, const float *x, float *y)
{
#pragma omp parallel for schedule(static) if (n * d >= 1 << 15)
    for (size_t r = 0; r < n; r++)
        for (size_t j = 0; j < d; j++)
            y[r * d + j] = scale[r] * x[r * d + j];
}

int
num_finite(size_t n, const float *x)
{
    uint32_t bad = 0;

    // infinities and NaNs have an exponent of all ones
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, x + i, sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

void
num_unit_rows(size_t n, size_t d, const float *z, float *v, float *length)
{
    for (size_t r = 0; r < n; r++) {
        const float *row = z + r * d;
        double len = sqrt(num_dot(d, row, row));
        float scale = (float)(1 / fmax(len, guard));

        for (size_t k = 0; k < d; k++)
            v[r * d + k] = scale * row[k];
        if (length)
            length[r] = (float)len;
    }
}

void
num_unit_rows_back(size_t n, size_t d, const float *v, const float *length,
                   const float *dv, float *dz)
{
    for (size_t r = 0; r < n; r++) {
        const float *row = v + r * d, *g = dv + r * d;
        float along = (float)num_dot(d, g, row);
        float scale = (float)(1 / fmax(length[r], guard));

        for (size_t k = 0; k < d; k++)
            dz[r * d + k] = scale * (g[k] - along * row[k]);
    }
}
