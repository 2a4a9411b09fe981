#include <string.h>

#include "util/dtype.h"
#include "util/err.h"

static const struct dtype_about table[] = {
    [DTYPE_U1] = {"u1", "U8", "|u1", 1},
    [DTYPE_I4] = {"i4", "I32", "<i4", 4},
    [DTYPE_I8] = {"i8", "I64", "<i8", 8},
    [DTYPE_F4] = {"f4", "F32", "<f4", 4},
    [DTYPE_F8] = {"f8", "F64", "<f8", 8},
    [DTYPE_BF] = {"bf", "BF16", NULL, 2},
    [DTYPE_F2] = {"f2", "F16", "<f2", 2},
    [DTYPE_U4] = {NULL, "U32", "<u4", 4},
    [DTYPE_U8] = {NULL, "U64", "<u8", 8},
    [DTYPE_I1] = {NULL, "I8", "|i1", 1},
    [DTYPE_I2] = {NULL, "I16", "<i2", 2},
    [DTYPE_U2] = {NULL, "U16", "<u2", 2},
    [DTYPE_BOOL] = {NULL, "BOOL", "|b1", 1},
};

_Static_assert(sizeof table / sizeof *table == DTYPES, "one row for each");

const struct dtype_about *
dtype_about(enum dtype dtype)
{
    REQUIRE(dtype < DTYPES);
    return &table[dtype];
}

static int
equals_name(const char *want, const char *name, size_t n)
{
    return want && strlen(want) == n && !memcmp(want, name, n);
}

enum dtype
dtype_by_wire(const char *name, size_t n)
{
    int d = 0;

    while (d < DTYPES && !equals_name(table[d].wire, name, n))
        d++;
    return (enum dtype)d;
}

enum dtype
dtype_by_safetensors(const char *name, size_t n)
{
    int d = 0;

    while (d < DTYPES && !equals_name(table[d].safetensors, name, n))
        d++;
    return (enum dtype)d;
}

static uint32_t
bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float
float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The exponent is biased by 127 in a float and by 15 in a half, which lacks the
 * last 13 bits of the mantissa.  Below 2^-14 a half counts in steps of 2^-24,
 * as the last bit of a float between 1/2 and 1 does. */
static uint16_t
round_one(float x)
{
    const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000;
    const uint32_t size = bits & 0x7fffffff;

    if (size > 0x7f800000)
        return (uint16_t)(sign | 0x7e00); // NaN
    if (size >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00); // 65,520 and more
    if (size < 0x38800000)
        return (uint16_t)(sign |
                          (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign |
                      ((size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13));
}

static float
widen_one(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t size = half & 0x7fff;

    if (size >= 0x7c00)
        return float_of(sign | 0x7f800000 | (size & 0x3ff) << 13);
    if (size < 0x400)
        return float_of(sign | bits_of((float)size * 0x1p-24f));
    return float_of(sign | ((size << 13) + (112u << 23)));
}

void
half_round(size_t n, const float *x, uint16_t *half)
{
    for (size_t i = 0; i < n; i++)
        half[i] = round_one(x[i]);
}

void
half_widen(size_t n, const uint16_t *half, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = widen_one(half[i]);
}
