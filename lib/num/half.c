#include "num/half.h"
#include "num/vec.h"
#include "util/clones.h"

#include "lanes.h"

static UTIL_CLONES(void, get_halves,
                   (size_t n, const uint16_t *x, float *plain), (n, x, plain))
{
    for (size_t i = 0; i < n; i++)
        plain[i] = half_value(x[i]);
}

void
num_half_get(size_t n, int bf16, const void *x, float *plain)
{
    if (bf16)
        get_halves(n, x, plain);
    else
        memcpy(plain, x, n * sizeof *plain);
}

static UTIL_CLONES(void, put_halves,
                   (size_t n, const float *plain, uint16_t *x), (n, plain, x))
{
    for (size_t i = 0; i < n; i++)
        x[i] = half_of(plain[i]);
}

void
num_half_put(size_t n, int bf16, const float *plain, void *x)
{
    if (bf16)
        put_halves(n, plain, x);
    else
        memcpy(x, plain, n * sizeof *plain);
}

static UTIL_CLONES(void, axpy_halves,
                   (size_t n, float alpha, const uint16_t *x, float *y),
                   (n, alpha, x, y))
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * half_value(x[i]);
}

void
num_half_axpy(size_t n, int bf16, float alpha, const void *x, float *y)
{
    if (bf16)
        axpy_halves(n, alpha, x, y);
    else
        num_axpy(n, alpha, x, y);
}
