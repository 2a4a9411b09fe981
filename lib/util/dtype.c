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
